import type { CanonicalMessage, Emit, Json, JsonObject, MessagePart, Meta, OnLoss } from '@intertie/core';
import type { AgentEntry, DataPart, FilePart, InterjectionPart, SourcePart, TextPart } from '@intertie/core/internal';
import type { UIMessage } from 'ai';
import { filterInternal, type IncludeInternal } from '../shared/include-internal.ts';
import { toUISource } from '../ui-message-stream/encode/encode-ui-parts.ts';
import { toDataUrl, unknownMediaType } from '../shared/file-body.ts';
import { toIdentity, metadataKey, withIntertie } from '../shared/intertie-metadata.ts';
import { joinToolMessages } from './join-tool-messages.ts';
import { parseProviderKind } from '../shared/provider-data.ts';
import { defined } from '../shared/read-fields.ts';
import { isCitation } from './ui-citation.ts';
import { toExtensionId } from '../ui-message-stream/chunk/ui-extension.ts';
import type { UIMessageChunk, UIMessageVersion } from '../ui-message-stream/chunk/ui-message-chunk.ts';
import { toQuestionCallId } from '../ui-message-stream/chunk/ui-question-id.ts';
import { encodeUIQuestionPart } from './ui-question-part.ts';
import { UIStepEncoder } from '../ui-message-stream/encode/encode-ui-steps.ts';
import { encodeUIToolPart } from './ui-tool-part.ts';

export interface ToUIMessagesOptions {
  /** The major of `ai` that reads them. 6 is also right for 7, which has parts of its own for a few things. Default: 6. */
  version?: UIMessageVersion;
  /** Whether what agents say among themselves is shown. Default: no. */
  includeInternal?: IncludeInternal;
  onLoss?: OnLoss;
}

type UIPart = { type: string } & JsonObject;
type Options = Required<ToUIMessagesOptions>;

/**
 * Canonical messages as `useChat` has them after it has read their streams. What a UI message has no field for travels in
 * `providerMetadata.intertie`, in `metadata.intertie` and in data parts of our own, and `fromUIMessages` takes it back.
 */
export function toUIMessages(
  messages: readonly CanonicalMessage[],
  { version = 6, includeInternal = false, onLoss = () => undefined }: ToUIMessagesOptions = {},
): UIMessage[] {
  const options: Options = { version, includeInternal, onLoss };
  return joinToolMessages(messages, onLoss).map((message) => toUIMessage(message, options));
}

function toUIMessage(message: CanonicalMessage, options: Options): UIMessage {
  const { id, role, content } = message;
  const parts = role === 'assistant' ? assistantParts(message, options) : plainParts(message, options);
  if (parts.length === 0 && content.content !== undefined) parts.push({ type: 'text', text: content.content });
  reportDirectories(message, options.onLoss);
  const metadata: JsonObject = { ...content.metadata, [metadataKey]: messageSlot(message) };
  return { id, role, metadata, parts } as unknown as UIMessage;
}

function messageSlot({ createdAt, runId, status }: CanonicalMessage): JsonObject {
  return { createdAt: createdAt.toISOString(), ...defined({ runId, status }) };
}

/** What the store knows of a message and its parts do not show. */
function reportDirectories({ id, content, state, sourceState }: CanonicalMessage, onLoss: OnLoss): void {
  const { steps, runs, providerMetadata } = content;
  const lost = Object.keys(defined({ steps, runs, providerMetadata, state, sourceState }));
  if (lost.length === 0) return;
  const why = `A UI message has no place for ${lost.join(', ')}; the store keeps them.`;
  onLoss({ kind: 'unsupported', what: 'message', why, id });
}

function plainParts({ content }: CanonicalMessage, options: Options): UIPart[] {
  return content.parts.flatMap((part) => encodePart(part, options) ?? []);
}

function assistantParts({ content }: CanonicalMessage, options: Options): UIPart[] {
  const parts: UIPart[] = [];
  const agents = new Map(Object.entries(content.agents ?? {}));
  const introduce = (agentId: string | undefined): void => {
    const entry = agentId === undefined ? undefined : agents.get(agentId);
    if (agentId === undefined || !entry) return;
    agents.delete(agentId);
    introduce(entry.parentAgentId);
    parts.push(agentPart(agentId, entry));
  };
  const steps = new UIStepEncoder();
  const mark = ({ type }: UIMessageChunk): void => {
    if (type === 'start-step') parts.push({ type: 'step-start' });
  };
  for (const part of content.parts) {
    const admitted = filterInternal(part, options.includeInternal, options.onLoss);
    const encoded = admitted && encodePart(admitted, options);
    if (!admitted || !encoded) continue;
    introduce(part.agentId);
    enterStep(admitted, steps, mark);
    parts.push(encoded);
  }
  for (const id of agents.keys()) {
    const why = 'It said nothing that is shown, and a UI message knows agents by their words.';
    options.onLoss({ kind: 'unsupported', what: 'agent', why, id });
  }
  return parts;
}

/** Opens the steps that the encoder of the stream opens for the same part. */
function enterStep(part: MessagePart, steps: UIStepEncoder, emit: Emit<UIMessageChunk>): void {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return steps.enterStep(part.stepId, 'text', emit);
    case 'file':
      return steps.enterStep(part.stepId, 'other', emit);
    case 'tool-invocation':
      steps.enterStep(part.stepId, 'other', emit);
      return steps.addCall(part.toolCallId, part.stepId, part.executor === 'provider');
    case 'question':
      return steps.addCall(toQuestionCallId(part.questionId), undefined, false);
    case 'source':
    case 'data':
      return steps.enterNamedStep(part.stepId, emit);
    default:
  }
}

function agentPart(agentId: string, entry: AgentEntry): UIPart {
  return { type: 'data-agent', id: toExtensionId('agent', agentId), data: { agentId, ...entry } };
}

function encodePart(part: MessagePart, options: Options): UIPart | undefined {
  switch (part.type) {
    case 'text':
      return textPart(part, options);
    case 'reasoning': {
      const { id, reasoning: text, details } = part;
      return { type: 'reasoning', ...defined({ id }), text, state: 'done', ...partMeta(part, defined({ details })) };
    }
    case 'tool-invocation':
      return encodeUIToolPart(part, options.version);
    case 'question':
      return encodeUIQuestionPart(part);
    case 'file':
      return filePart(part, options);
    case 'source':
      return sourcePart(part, options.onLoss);
    case 'data':
      return dataPart(part, options);
    case 'interjection':
      return interjectionPart(part, options);
    default: {
      const { type } = part as { type: string };
      options.onLoss({
        kind: 'unsupported',
        what: type,
        why: 'A newer version wrote it, and this one cannot read it.',
      });
      return undefined;
    }
  }
}

function partMeta(part: MessagePart, intertie: JsonObject = {}): { providerMetadata?: Meta } {
  const providerMetadata = withIntertie(part.providerMetadata, { ...toIdentity(part), ...intertie });
  return providerMetadata ? { providerMetadata } : {};
}

function textPart(part: TextPart, { version }: Options): UIPart {
  const { text, citations } = part;
  const isNative = version === 7 && citations?.every(isCitation);
  return {
    type: 'text',
    text,
    state: 'done',
    ...(isNative && citations && { citations }),
    ...partMeta(part, isNative ? {} : defined({ citations })),
  };
}

function filePart(part: FilePart, { version }: Options): UIPart {
  const { id = '', mimeType, filename, reasoning } = part;
  if (part.reference !== undefined) {
    const data: JsonObject = { ...defined({ mimeType, filename, reasoning }), reference: part.reference };
    return {
      type: 'data-file',
      id: toExtensionId('file', id),
      data: { ...data, ...toIdentity({ ...part, id: undefined }) },
    };
  }
  const isReasoningFile = version === 7 && reasoning === true;
  const intertie = {
    ...(mimeType === undefined && { untyped: true }),
    ...(reasoning && !isReasoningFile && { reasoning }),
    ...(isReasoningFile && defined({ filename })),
  };
  return {
    type: isReasoningFile ? 'reasoning-file' : 'file',
    mediaType: mimeType ?? unknownMediaType,
    ...(!isReasoningFile && defined({ filename })),
    url: part.data === undefined ? part.url : toDataUrl({ data: part.data, mimeType: mimeType ?? unknownMediaType }),
    ...partMeta(part, intertie),
  };
}

function sourcePart(part: SourcePart, onLoss: OnLoss): UIPart {
  const { id, url, title } = part;
  const metaWith = (more: JsonObject): Meta | undefined => partMeta(part, more).providerMetadata;
  return toUISource(part, id ?? url ?? title ?? '', metaWith, onLoss) as UIPart;
}

/** `useChat` keeps a data chunk as it came, metadata included, though its types do not say so. */
function dataPart(part: DataPart, { version }: Options): UIPart {
  const { id, name = 'data', data } = part;
  const kind = version === 7 && data === null ? parseProviderKind(name) : undefined;
  if (kind !== undefined) return { type: 'custom', kind, ...partMeta(part) };
  return { type: `data-${name}`, ...defined({ id }), data, ...partMeta(part) };
}

function ownMeta({ providerMetadata }: MessagePart): { providerMetadata?: Meta } {
  return providerMetadata ? { providerMetadata } : {};
}

/** What a user said in the middle of it is a part of its own in 7. Everything else that others said is kept as data. */
function interjectionPart(part: InterjectionPart, options: Options): UIPart {
  const { id = '', role, name, parts } = part;
  const isPlain =
    role === 'user' && name === undefined && Object.keys(toIdentity({ ...part, id: undefined })).length === 0;
  if (options.version === 7 && isPlain && !part.providerMetadata && parts.every(isSteering)) {
    const steering = parts.flatMap((inner): Json[] => {
      const { state: _, ...encoded } = encodePart(inner, options) as UIPart;
      return [encoded];
    });
    return { type: 'steering-message', id, parts: steering };
  }
  const data = {
    role,
    ...defined({ name }),
    parts: parts as unknown as Json[],
    ...toIdentity({ ...part, id: undefined }),
  };
  return { type: 'data-interjection', id: toExtensionId('interjection', id), data, ...ownMeta(part) };
}

function isSteering(part: MessagePart): boolean {
  return part.type === 'text' || (part.type === 'file' && part.reference === undefined && part.reasoning === undefined);
}
