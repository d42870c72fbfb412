/** Major version of `ai` that reads the stream. */
export type UIMessageVersion = 6 | 7;

/** JSON value of ai 7, which is read-only. Undefined fields are omitted when it is serialized. */
type JsonValue = null | string | number | boolean | readonly JsonValue[] | JsonFields;
type JsonFields = { readonly [key: string]: JsonValue | undefined };
type Metadata = { providerMetadata?: { [provider: string]: JsonFields } };
type ToolMetadata = { toolMetadata?: JsonFields };
/** JSON value of ai 6. */
type JsonValue6 = null | string | number | boolean | JsonValue6[] | JsonFields6;
type JsonFields6 = { [key: string]: JsonValue6 | undefined };
type As6<Chunk> = {
  [Key in keyof Chunk]: Key extends 'providerMetadata'
    ? { [provider: string]: JsonFields6 }
    : Key extends 'toolMetadata'
      ? JsonFields6
      : Chunk[Key];
};

export type UIStartChunk = { type: 'start'; messageId?: string; messageMetadata?: unknown };
export type UIFinishChunk = {
  type: 'finish';
  finishReason?: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
  messageMetadata?: unknown;
};
export type UIAbortChunk = { type: 'abort'; reason?: string };
export type UIErrorChunk = { type: 'error'; errorText: string };
export type UIMessageMetadataChunk = { type: 'message-metadata'; messageMetadata: unknown };
export type UIStepChunk = { type: 'start-step' | 'finish-step' };

export type UIPartStartChunk = { type: 'text-start' | 'reasoning-start'; id: string } & Metadata;
export type UIPartDeltaChunk = { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string } & Metadata;
export type UIPartEndChunk = { type: 'text-end' | 'reasoning-end'; id: string } & Metadata;

export type UIToolInputStartChunk = {
  type: 'tool-input-start';
  toolCallId: string;
  toolName: string;
  inputEncoding?: 'json' | 'text';
  providerExecuted?: boolean;
  dynamic?: boolean;
  title?: string;
} & Metadata &
  ToolMetadata;
export type UIToolInputDeltaChunk = { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string };
export type UIToolInputAvailableChunk = {
  type: 'tool-input-available';
  toolCallId: string;
  toolName: string;
  input: unknown;
  providerExecuted?: boolean;
  dynamic?: boolean;
  title?: string;
} & Metadata &
  ToolMetadata;
export type UIToolInputErrorChunk = {
  type: 'tool-input-error';
  toolCallId: string;
  toolName: string;
  input: unknown;
  errorText: string;
  providerExecuted?: boolean;
  dynamic?: boolean;
  title?: string;
} & Metadata &
  ToolMetadata;
export type UIToolApprovalRequestChunk = {
  type: 'tool-approval-request';
  approvalId: string;
  toolCallId: string;
  approvalDescriptor?: unknown;
  inputSchemaInput?: unknown;
  signature?: string;
};
export type UIToolOutputAvailableChunk = {
  type: 'tool-output-available';
  toolCallId: string;
  output: unknown;
  providerExecuted?: boolean;
  dynamic?: boolean;
  preliminary?: boolean;
} & Metadata &
  ToolMetadata;
export type UIToolOutputErrorChunk = {
  type: 'tool-output-error';
  toolCallId: string;
  errorText: string;
  providerExecuted?: boolean;
  dynamic?: boolean;
} & Metadata &
  ToolMetadata;
export type UIToolOutputDeniedChunk = { type: 'tool-output-denied'; toolCallId: string };

export type UISourceUrlChunk = { type: 'source-url'; sourceId: string; url: string; title?: string } & Metadata;
export type UISourceDocumentChunk = {
  type: 'source-document';
  sourceId: string;
  mediaType: string;
  title: string;
  filename?: string;
} & Metadata;
export type UIFileChunk = { type: 'file'; url: string; mediaType: string } & Metadata;
/** `providerMetadata` is our addition: the client stores data chunks unchanged, including unknown fields. */
export type UIDataChunk = { type: `data-${string}`; id?: string; data: unknown; transient?: boolean } & Metadata;

/** Chunk that both majors read. An encoder for 6 writes only these. */
export type UIMessageChunk6 = As6<CommonChunk>;

type CommonChunk =
  | UIStartChunk
  | UIFinishChunk
  | UIAbortChunk
  | UIErrorChunk
  | UIMessageMetadataChunk
  | UIStepChunk
  | UIPartStartChunk
  | UIPartDeltaChunk
  | UIPartEndChunk
  | UIToolInputStartChunk
  | UIToolInputDeltaChunk
  | UIToolInputAvailableChunk
  | UIToolInputErrorChunk
  | UIToolApprovalRequestChunk
  | UIToolOutputAvailableChunk
  | UIToolOutputErrorChunk
  | UIToolOutputDeniedChunk
  | UISourceUrlChunk
  | UISourceDocumentChunk
  | UIFileChunk
  | UIDataChunk;

/** Citation of a text, in 7. */
export type UICitation = {
  source:
    | ({ type: 'source'; sourceType: 'url'; id: string; url: string; title?: string } & Metadata)
    | ({
        type: 'source';
        sourceType: 'document';
        id: string;
        mediaType: string;
        title: string;
        filename?: string;
      } & Metadata);
  startIndex?: number;
  endIndex?: number;
  citedText?: string;
};
export type UITextEndChunk7 = { type: 'text-end'; id: string; citations?: UICitation[] } & Metadata;
export type UIFinishChunk7 = {
  type: 'finish';
  finishReason?: UIFinishChunk['finishReason'] | 'interrupted';
  messageMetadata?: unknown;
};
export type UIToolApprovalRequestChunk7 = UIToolApprovalRequestChunk & { reason?: string; isAutomatic?: boolean };
export type UIToolApprovalResponseChunk = {
  type: 'tool-approval-response';
  approvalId: string;
  approved: boolean;
  reason?: string;
  providerExecuted?: boolean;
} & Metadata;
export type UICustomChunk = { type: 'custom'; kind: `${string}.${string}` } & Metadata;
export type UIReasoningFileChunk = { type: 'reasoning-file'; url: string; mediaType: string } & Metadata;
export type UISteeringPart =
  | ({ type: 'text'; text: string; state?: 'streaming' | 'done'; citations?: UICitation[] } & Metadata)
  | ({
      type: 'file';
      mediaType: string;
      url: string;
      filename?: string;
      providerReference?: { [provider: string]: string };
    } & Metadata);
export type UISteeringMessageChunk = { type: 'steering-message'; id: string; parts: UISteeringPart[] };
export type UIResetStepChunk = { type: 'reset-step' };

/** Any chunk of 6 and 7. */
export type UIMessageChunk =
  | Exclude<CommonChunk, UIPartEndChunk | UIFinishChunk | UIToolApprovalRequestChunk>
  | UITextEndChunk7
  | ({ type: 'reasoning-end'; id: string } & Metadata)
  | UIFinishChunk7
  | UIToolApprovalRequestChunk7
  | UIToolApprovalResponseChunk
  | UICustomChunk
  | UIReasoningFileChunk
  | UISteeringMessageChunk
  | UIResetStepChunk;

/** Chunks that a reader of a version accepts. */
export type UIMessageChunkOf<Version extends UIMessageVersion> = Version extends 6 ? UIMessageChunk6 : UIMessageChunk;
