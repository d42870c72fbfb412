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
  /** Major version of `ai` that reads the messages. 7 has a few parts of its own, but also reads 6. Default: 6. */
  version?: UIMessageVersion;
  /** Whether internal messages between agents are included. Default: false. */
  includeInternal?: IncludeInternal;
  onLoss?: OnLoss;
}

type UIPart = { type: string } & JsonObject;
type Options = Required<ToUIMessagesOptions>;

/**
 * Converts canonical messages to the UI messages that `useChat` has after reading their streams. Fields that a UI message
 * lacks are stored in `providerMetadata.intertie`, in `metadata.intertie` and in our own data parts, where `fromUIMessages`
 * reads them.
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
  const parts = role === 'assistant' ? encodeAssistantParts(message, options) : encodeParts(message, options);
  if (parts.length === 0 && content.content !== undefined) parts.push({ type: 'text', text: content.content });
  reportUnsupportedFields(message, options.onLoss);
  const metadata: JsonObject = { ...content.metadata, [metadataKey]: toMessageMetadata(message) };
  return { id, role, metadata, parts } as unknown as UIMessage;
}

function toMessageMetadata({ createdAt, runId, status }: CanonicalMessage): JsonObject {
  return { createdAt: createdAt.toISOString(), ...defined({ runId, status }) };
}

/** Reports the fields of a message that a UI message cannot carry. */
function reportUnsupportedFields({ id, content, state, sourceState }: CanonicalMessage, onLoss: OnLoss): void {
  const { steps, runs, providerMetadata } = content;
  const lost = Object.keys(defined({ steps, runs, providerMetadata, state, sourceState }));
  if (lost.length === 0) return;
  const why = `A UI message has no field for ${lost.join(', ')}. The store keeps them.`;
  onLoss({ kind: 'unsupported', what: 'message', why, id });
}

function encodeParts({ content }: CanonicalMessage, options: Options): UIPart[] {
  return content.parts.flatMap((part) => encodePart(part, options) ?? []);
}

function encodeAssistantParts({ content }: CanonicalMessage, options: Options): UIPart[] {
  const parts: UIPart[] = [];
  const agents = new Map(Object.entries(content.agents ?? {}));
  const addAgent = (agentId: string | undefined): void => {
    const entry = agentId === undefined ? undefined : agents.get(agentId);
    if (agentId === undefined || !entry) return;
    agents.delete(agentId);
    addAgent(entry.parentAgentId);
    parts.push(encodeAgent(agentId, entry));
  };
  const steps = new UIStepEncoder();
  const addStepStart = ({ type }: UIMessageChunk): void => {
    if (type === 'start-step') parts.push({ type: 'step-start' });
  };
  for (const part of content.parts) {
    const admitted = filterInternal(part, options.includeInternal, options.onLoss);
    const encoded = admitted && encodePart(admitted, options);
    if (!admitted || !encoded) continue;
    addAgent(part.agentId);
    enterStep(admitted, steps, addStepStart);
    parts.push(encoded);
  }
  for (const id of agents.keys()) {
    const why = 'It has no visible parts, and a UI message carries agents only together with their parts.';
    options.onLoss({ kind: 'unsupported', what: 'agent', why, id });
  }
  return parts;
}

/** Opens the same steps as the stream encoder does for this part. */
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

function encodeAgent(agentId: string, entry: AgentEntry): UIPart {
  return { type: 'data-agent', id: toExtensionId('agent', agentId), data: { agentId, ...entry } };
}

function encodePart(part: MessagePart, options: Options): UIPart | undefined {
  switch (part.type) {
    case 'text':
      return encodeText(part, options);
    case 'reasoning': {
      const { id, reasoning: text, details } = part;
      return { type: 'reasoning', ...defined({ id }), text, state: 'done', ...toMetadata(part, defined({ details })) };
    }
    case 'tool-invocation':
      return encodeUIToolPart(part, options.version);
    case 'question':
      return encodeUIQuestionPart(part);
    case 'file':
      return encodeFile(part, options);
    case 'source':
      return encodeSource(part, options.onLoss);
    case 'data':
      return encodeData(part, options);
    case 'interjection':
      return encodeInterjection(part, options);
    default: {
      const { type } = part as { type: string };
      options.onLoss({
        kind: 'unsupported',
        what: type,
        why: 'This version does not know the part. A newer one may have written it.',
      });
      return undefined;
    }
  }
}

function toMetadata(part: MessagePart, intertie: JsonObject = {}): { providerMetadata?: Meta } {
  const providerMetadata = withIntertie(part.providerMetadata, { ...toIdentity(part), ...intertie });
  return providerMetadata ? { providerMetadata } : {};
}

function encodeText(part: TextPart, { version }: Options): UIPart {
  const { text, citations } = part;
  const isNative = version === 7 && citations?.every(isCitation);
  return {
    type: 'text',
    text,
    state: 'done',
    ...(isNative && citations && { citations }),
    ...toMetadata(part, isNative ? {} : defined({ citations })),
  };
}

function encodeFile(part: FilePart, { version }: Options): UIPart {
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
    ...toMetadata(part, intertie),
  };
}

function encodeSource(part: SourcePart, onLoss: OnLoss): UIPart {
  const { id, url, title } = part;
  const getMetadata = (metadata: JsonObject): Meta | undefined => toMetadata(part, metadata).providerMetadata;
  return toUISource(part, id ?? url ?? title ?? '', getMetadata, onLoss) as UIPart;
}

/** `useChat` keeps a data chunk unchanged, including metadata, although its types do not allow it. */
function encodeData(part: DataPart, { version }: Options): UIPart {
  const { id, name = 'data', data } = part;
  const kind = version === 7 && data === null ? parseProviderKind(name) : undefined;
  if (kind !== undefined) return { type: 'custom', kind, ...toMetadata(part) };
  return { type: `data-${name}`, ...defined({ id }), data, ...toMetadata(part) };
}

function toOwnMetadata({ providerMetadata }: MessagePart): { providerMetadata?: Meta } {
  return providerMetadata ? { providerMetadata } : {};
}

/** Plain user interjections are `steering-message` parts in `ai` 7. All others become our own data parts. */
function encodeInterjection(part: InterjectionPart, options: Options): UIPart {
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
  return { type: 'data-interjection', id: toExtensionId('interjection', id), data, ...toOwnMetadata(part) };
}

function isSteering(part: MessagePart): boolean {
  return part.type === 'text' || (part.type === 'file' && part.reference === undefined && part.reasoning === undefined);
}
