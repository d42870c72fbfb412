import type {
  CanonicalMessage,
  JsonObject,
  MessageContent,
  MessagePart,
  MessageRole,
  MessageStatus,
  OnLoss,
} from '@intertie/core';
import { toJson } from '@intertie/core';
import type { AgentEntry, FilePart, InterjectionPart, SourcePart } from '@intertie/core/internal';
import { parseFileBody } from '../shared/file-body.ts';
import { parseIdentity, metadataKey, splitMetadata } from '../shared/intertie-metadata.ts';
import { toProviderDataName } from '../shared/provider-data.ts';
import {
  parseDate,
  defined,
  asFields,
  isFields,
  asJsonObject,
  parseMetadata,
  asNonEmptyText,
  asText,
  type Fields,
} from '../shared/read-fields.ts';
import { parseExtension } from '../ui-message-stream/chunk/ui-extension.ts';
import { decodeUIQuestionPart } from './ui-question-part.ts';
import { decodeUIToolPart } from './ui-tool-part.ts';

export interface FromUIMessagesOptions {
  threadId: string;
  /** Creation date of messages without one. Default: the Unix epoch, so that the conversion is deterministic. */
  createdAt?: Date;
  onLoss?: OnLoss;
}

/**
 * Converts UI messages to canonical messages: the inverse of `toUIMessages`, and an import for any AI SDK front end. Never
 * throws, since clients may send anything: unreadable parts are reported and left out. The parent of each message is the one
 * before it.
 */
export function fromUIMessages(messages: readonly unknown[], options: FromUIMessagesOptions): CanonicalMessage[] {
  const { onLoss = () => undefined } = options;
  const decoded: CanonicalMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (!isFields(message)) {
      onLoss({ kind: 'repaired', what: 'message', why: `Message ${index} is not an object.` });
      continue;
    }
    const parent = decoded.at(-1);
    const canonical = fromUIMessage(message, index, { createdAt: new Date(0), ...options, onLoss });
    decoded.push(parent ? { ...canonical, parentId: parent.id } : canonical);
  }
  return decoded;
}

function fromUIMessage(message: Fields, index: number, options: Required<FromUIMessagesOptions>): CanonicalMessage {
  const { threadId, createdAt, onLoss } = options;
  const id = asNonEmptyText(message.id) ?? `${threadId}:${index}`;
  if (id !== message.id) {
    onLoss({ kind: 'repaired', what: 'message', why: 'It has no id; thread id and index are used instead.', id });
  }
  const { [metadataKey]: own, ...metadata } = readMetadata(message.metadata, onLoss);
  const intertie = asFields(own);
  const role: MessageRole = message.role === 'user' || message.role === 'system' ? message.role : 'assistant';
  const parts = Array.isArray(message.parts) ? message.parts : [];
  // Messages without our metadata separate steps by `step-start` parts. In ours, the parts have step ids.
  const isForeign = role === 'assistant' && own === undefined && !parts.some(hasIntertieMetadata);
  const content = new ContentDecoder(onLoss, isForeign ? id : undefined).decode(parts);
  if (Object.keys(metadata).length > 0) content.metadata = metadata;
  return {
    id,
    threadId,
    role,
    type: 'text',
    content,
    createdAt: parseDate(intertie.createdAt) ?? createdAt,
    ...defined({ runId: asNonEmptyText(intertie.runId), status: readStatus(intertie.status) }),
  };
}

function readMetadata(value: unknown, onLoss: OnLoss): JsonObject {
  if (value === undefined || value === null) return {};
  const metadata = asJsonObject(toJson(value, onLoss));
  if (!metadata) onLoss({ kind: 'unsupported', what: 'metadata', why: 'The metadata of a message must be an object.' });
  return metadata ?? {};
}

const statuses: ReadonlySet<unknown> = new Set<MessageStatus>(['streaming', 'complete', 'paused', 'aborted', 'error']);

function readStatus(value: unknown): MessageStatus | undefined {
  return statuses.has(value) ? (value as MessageStatus) : undefined;
}

function hasIntertieMetadata(part: unknown): boolean {
  const { providerMetadata, callProviderMetadata } = asFields(part);
  return isFields(asFields(providerMetadata ?? callProviderMetadata)[metadataKey]);
}

/** Decodes the parts of one message. */
class ContentDecoder {
  #onLoss: OnLoss;
  /** Prefix of new step ids. Undefined: the parts already have step ids, or none. */
  #messageId: string | undefined;
  #steps = 0;
  #agents: { [agentId: string]: AgentEntry } = {};
  #newSteps: { [stepId: string]: object } = {};

  constructor(onLoss: OnLoss, messageId?: string) {
    this.#onLoss = onLoss;
    this.#messageId = messageId;
  }

  decode(values: readonly unknown[]): MessageContent {
    const parts: MessagePart[] = [];
    for (const value of values) {
      const ui = asFields(value);
      if (ui.type === 'step-start') this.#steps += 1;
      else {
        const part = this.#decodePart(ui);
        if (part) parts.push(this.#addStep(part));
      }
    }
    return {
      format: 2,
      parts,
      ...(Object.keys(this.#agents).length > 0 && { agents: this.#agents }),
      ...(Object.keys(this.#newSteps).length > 0 && { steps: this.#newSteps }),
    };
  }

  #addStep(part: MessagePart): MessagePart {
    const isOutput = part.type !== 'data' && part.type !== 'interjection' && part.type !== 'source';
    if (this.#messageId === undefined || this.#steps === 0 || !isOutput) return part;
    const stepId = `${this.#messageId}:step-${this.#steps - 1}`;
    this.#newSteps[stepId] ??= {};
    return { ...part, stepId };
  }

  #decodePart(ui: Fields): MessagePart | undefined {
    const type = asText(ui.type) ?? '';
    if (type.startsWith('data-')) return this.#decodeData(type.slice('data-'.length), ui);
    if (type.startsWith('tool-') || type === 'dynamic-tool') return this.#decodeTool(ui);
    const { intertie, meta } = splitMetadata(parseMetadata(ui.providerMetadata, this.#onLoss));
    const identity = { ...parseIdentity(intertie), ...(meta && { providerMetadata: meta }) };
    switch (type) {
      case 'text': {
        const value = ui.citations ?? intertie.citations;
        const citations = Array.isArray(value) ? value.map((item) => toJson(item, this.#onLoss)) : undefined;
        return { type: 'text', text: asText(ui.text) ?? '', ...defined({ citations }), ...identity };
      }
      case 'reasoning': {
        const { details } = intertie;
        return { type: 'reasoning', reasoning: asText(ui.text) ?? '', ...defined({ details }), ...identity };
      }
      case 'file':
      case 'reasoning-file':
        return this.#decodeFile(ui, intertie, identity);
      case 'source-url':
      case 'source-document':
        return this.#decodeSource(ui, intertie, identity);
      case 'custom':
        return { type: 'data', name: toProviderDataName(asText(ui.kind) ?? 'custom'), data: null, ...identity };
      case 'steering-message': {
        const id = asNonEmptyText(ui.id);
        const parts = new ContentDecoder(this.#onLoss).decode(Array.isArray(ui.parts) ? ui.parts : []).parts;
        return { type: 'interjection', role: 'user', parts, ...defined({ id }) };
      }
      default:
        this.#onLoss({ kind: 'unsupported', what: type, why: 'This type of part is unknown in UI messages.' });
        return undefined;
    }
  }

  #decodeTool(ui: Fields): MessagePart | undefined {
    if (asNonEmptyText(ui.toolCallId) === undefined) {
      const why = 'The tool part was left out: it has no toolCallId.';
      this.#onLoss({ kind: 'repaired', what: asText(ui.type) ?? '', why });
      return undefined;
    }
    return decodeUIQuestionPart(ui, this.#onLoss) ?? decodeUIToolPart(ui, this.#onLoss);
  }

  #decodeFile(ui: Fields, intertie: JsonObject, identity: Partial<FilePart>): MessagePart | undefined {
    const data = isFields(ui.providerReference) ? ui.providerReference : { type: 'url', url: ui.url };
    const mediaType = intertie.untyped === true ? undefined : ui.mediaType;
    const filename = ui.filename ?? intertie.filename;
    const body = parseFileBody({ data, mediaType, filename }, this.#onLoss);
    if (!body) return undefined;
    if (intertie.untyped === true) delete body.mimeType;
    const reasoning = ui.type === 'reasoning-file' || intertie.reasoning === true;
    return { type: 'file', ...body, ...(reasoning && { reasoning }), ...identity } as FilePart;
  }

  #decodeSource(ui: Fields, intertie: JsonObject, identity: Partial<SourcePart>): SourcePart {
    return {
      type: 'source',
      sourceType: ui.type === 'source-url' ? 'url' : 'document',
      ...defined({
        url: asText(ui.url) ?? asText(intertie.url),
        title: asText(ui.title),
        mediaType: asText(ui.mediaType) ?? asText(intertie.mediaType),
        filename: asText(ui.filename) ?? asText(intertie.filename),
        id: asNonEmptyText(ui.sourceId),
      }),
      ...identity,
    };
  }

  #decodeData(name: string, ui: Fields): MessagePart | undefined {
    const id = asNonEmptyText(ui.id);
    const extension = parseExtension({ type: `data-${name}`, ...defined({ id }) });
    const data = toJson(ui.data ?? null, this.#onLoss);
    const { intertie, meta } = splitMetadata(parseMetadata(ui.providerMetadata, this.#onLoss));
    const metadata = meta ? { providerMetadata: meta } : {};
    if (!extension) return { type: 'data', name, data, ...defined({ id }), ...parseIdentity(intertie), ...metadata };
    switch (extension.name) {
      case 'agent':
        return this.#addAgent(extension.id, asJsonObject(data) ?? {});
      case 'interjection':
        return { ...toInterjection(extension.id, asJsonObject(data) ?? {}), ...metadata };
      case 'file': {
        const file = toFileReference(extension.id, asJsonObject(data) ?? {});
        return file && { ...file, ...metadata };
      }
      default:
        // State, notices and events are transient. A client that sends one back kept it for its own use.
        return undefined;
    }
  }

  #addAgent(id: string, { agentId = id, ...entry }: JsonObject): undefined {
    const { name, kind } = entry;
    const isKind = kind === 'agent' || kind === 'node' || kind === 'voice';
    if (asNonEmptyText(agentId) !== undefined && typeof name === 'string' && isKind) {
      this.#agents[agentId as string] = { ...entry, name, kind };
    }
  }
}

function toInterjection(id: string, { role, name, parts, ...intertie }: JsonObject): InterjectionPart {
  return {
    type: 'interjection',
    ...(id !== '' && { id }),
    role: role === 'system' ? 'system' : 'user',
    ...defined({ name: asText(name) }),
    parts: (Array.isArray(parts) ? parts.filter(isFields) : []) as unknown as MessagePart[],
    ...parseIdentity(intertie),
  };
}

function toFileReference(
  id: string,
  { mimeType, filename, reasoning, reference, ...intertie }: JsonObject,
): FilePart | undefined {
  const { provider, ref } = asFields(reference);
  if (typeof ref !== 'string') return undefined;
  return {
    type: 'file',
    ...(id !== '' && { id }),
    ...defined({ mimeType: asText(mimeType), filename: asText(filename) }),
    ...(reasoning === true && { reasoning }),
    reference: { ...defined({ provider: asText(provider) }), ref },
    ...parseIdentity(intertie),
  };
}
