import type {
  CanonicalMessage,
  JsonObject,
  MessageContent,
  MessagePart,
  MessageRole,
  MessageStatus,
  OnLoss,
} from '@intertie/core';
import {
  toJson,
  type AgentEntry,
  type FilePart,
  type InterjectionPart,
  type SourcePart,
} from '@intertie/core/internal';
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
  /** Of messages that do not say when they were made. Default: the beginning of time, since nothing here reads a clock. */
  createdAt?: Date;
  onLoss?: OnLoss;
}

/**
 * UI messages as canonical ones: the way back from `toUIMessages`, and the way in for messages of any AI SDK front end.
 * It takes what a client sent, so it never throws; what it cannot read is reported and left out. Each message's parent is
 * the one before it.
 */
export function fromUIMessages(messages: readonly unknown[], options: FromUIMessagesOptions): CanonicalMessage[] {
  const { onLoss = () => undefined } = options;
  const decoded: CanonicalMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (!isFields(message)) {
      onLoss({ kind: 'repaired', what: 'message', why: `Number ${index} is no message: a message is an object.` });
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
    onLoss({ kind: 'repaired', what: 'message', why: 'It had no id, and was named after its place.', id });
  }
  const { [metadataKey]: said, ...metadata } = metadataOf(message.metadata, onLoss);
  const intertie = asFields(said);
  const role: MessageRole = message.role === 'user' || message.role === 'system' ? message.role : 'assistant';
  const parts = Array.isArray(message.parts) ? message.parts : [];
  // A message of somebody else's has its turns between `step-start` parts, and only there. In ours, the parts name them.
  const isForeign = role === 'assistant' && said === undefined && !parts.some(hasSlot);
  const content = new ContentReader(onLoss, isForeign ? id : undefined).read(parts);
  if (Object.keys(metadata).length > 0) content.metadata = metadata;
  return {
    id,
    threadId,
    role,
    type: 'text',
    content,
    createdAt: parseDate(intertie.createdAt) ?? createdAt,
    ...defined({ runId: asNonEmptyText(intertie.runId), status: statusOf(intertie.status) }),
  };
}

function metadataOf(value: unknown, onLoss: OnLoss): JsonObject {
  if (value === undefined || value === null) return {};
  const metadata = asJsonObject(toJson(value, onLoss));
  if (!metadata) onLoss({ kind: 'unsupported', what: 'metadata', why: 'The metadata of a message is an object.' });
  return metadata ?? {};
}

const statuses: ReadonlySet<unknown> = new Set<MessageStatus>(['streaming', 'complete', 'paused', 'aborted', 'error']);

function statusOf(value: unknown): MessageStatus | undefined {
  return statuses.has(value) ? (value as MessageStatus) : undefined;
}

function hasSlot(part: unknown): boolean {
  const { providerMetadata, callProviderMetadata } = asFields(part);
  return isFields(asFields(providerMetadata ?? callProviderMetadata)[metadataKey]);
}

class ContentReader {
  #onLoss: OnLoss;
  /** Steps are minted from it. Undefined: the parts know their steps, or have none. */
  #messageId: string | undefined;
  #steps = 0;
  #agents: { [agentId: string]: AgentEntry } = {};
  #minted: { [stepId: string]: object } = {};

  constructor(onLoss: OnLoss, messageId?: string) {
    this.#onLoss = onLoss;
    this.#messageId = messageId;
  }

  read(values: readonly unknown[]): MessageContent {
    const parts: MessagePart[] = [];
    for (const value of values) {
      const ui = asFields(value);
      if (ui.type === 'step-start') this.#steps += 1;
      else {
        const part = this.#decode(ui);
        if (part) parts.push(this.#inStep(part));
      }
    }
    return {
      format: 2,
      parts,
      ...(Object.keys(this.#agents).length > 0 && { agents: this.#agents }),
      ...(Object.keys(this.#minted).length > 0 && { steps: this.#minted }),
    };
  }

  #inStep(part: MessagePart): MessagePart {
    const isSaid = part.type !== 'data' && part.type !== 'interjection' && part.type !== 'source';
    if (this.#messageId === undefined || this.#steps === 0 || !isSaid) return part;
    const stepId = `${this.#messageId}:step-${this.#steps - 1}`;
    this.#minted[stepId] ??= {};
    return { ...part, stepId };
  }

  #decode(ui: Fields): MessagePart | undefined {
    const type = asText(ui.type) ?? '';
    if (type.startsWith('data-')) return this.#data(type.slice('data-'.length), ui);
    if (type.startsWith('tool-') || type === 'dynamic-tool') return this.#tool(ui);
    const { intertie, meta } = splitMetadata(parseMetadata(ui.providerMetadata, this.#onLoss));
    const kept = { ...parseIdentity(intertie), ...(meta && { providerMetadata: meta }) };
    switch (type) {
      case 'text': {
        const said = ui.citations ?? intertie.citations;
        const citations = Array.isArray(said) ? said.map((one) => toJson(one, this.#onLoss)) : undefined;
        return { type: 'text', text: asText(ui.text) ?? '', ...defined({ citations }), ...kept };
      }
      case 'reasoning': {
        const { details } = intertie;
        return { type: 'reasoning', reasoning: asText(ui.text) ?? '', ...defined({ details }), ...kept };
      }
      case 'file':
      case 'reasoning-file':
        return this.#file(ui, intertie, kept);
      case 'source-url':
      case 'source-document':
        return this.#source(ui, intertie, kept);
      case 'custom':
        return { type: 'data', name: toProviderDataName(asText(ui.kind) ?? 'custom'), data: null, ...kept };
      case 'steering-message': {
        const id = asNonEmptyText(ui.id);
        const parts = new ContentReader(this.#onLoss).read(Array.isArray(ui.parts) ? ui.parts : []).parts;
        return { type: 'interjection', role: 'user', parts, ...defined({ id }) };
      }
      default:
        this.#onLoss({ kind: 'unsupported', what: type, why: 'No part of a UI message that we know has this type.' });
        return undefined;
    }
  }

  #tool(ui: Fields): MessagePart | undefined {
    if (asNonEmptyText(ui.toolCallId) === undefined) {
      const why = 'A tool part without a toolCallId cannot be told from others, and was left out.';
      this.#onLoss({ kind: 'repaired', what: asText(ui.type) ?? '', why });
      return undefined;
    }
    return decodeUIQuestionPart(ui, this.#onLoss) ?? decodeUIToolPart(ui, this.#onLoss);
  }

  #file(ui: Fields, intertie: JsonObject, kept: Partial<FilePart>): MessagePart | undefined {
    const data = isFields(ui.providerReference) ? ui.providerReference : { type: 'url', url: ui.url };
    const mediaType = intertie.untyped === true ? undefined : ui.mediaType;
    const filename = ui.filename ?? intertie.filename;
    const body = parseFileBody({ data, mediaType, filename }, this.#onLoss);
    if (!body) return undefined;
    if (intertie.untyped === true) delete body.mimeType;
    const reasoning = ui.type === 'reasoning-file' || intertie.reasoning === true;
    return { type: 'file', ...body, ...(reasoning && { reasoning }), ...kept } as FilePart;
  }

  #source(ui: Fields, intertie: JsonObject, kept: Partial<SourcePart>): SourcePart {
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
      ...kept,
    };
  }

  #data(name: string, ui: Fields): MessagePart | undefined {
    const id = asNonEmptyText(ui.id);
    const ours = parseExtension({ type: `data-${name}`, ...defined({ id }) });
    const data = toJson(ui.data ?? null, this.#onLoss);
    const { intertie, meta } = splitMetadata(parseMetadata(ui.providerMetadata, this.#onLoss));
    const more = meta ? { providerMetadata: meta } : {};
    if (!ours) return { type: 'data', name, data, ...defined({ id }), ...parseIdentity(intertie), ...more };
    switch (ours.name) {
      case 'agent':
        return this.#agent(ours.id, asJsonObject(data) ?? {});
      case 'interjection':
        return { ...interjectionOf(ours.id, asJsonObject(data) ?? {}), ...more };
      case 'file': {
        const file = fileReferenceOf(ours.id, asJsonObject(data) ?? {});
        return file && { ...file, ...more };
      }
      default:
        // State, notices and events are shown, and not kept: a client that kept one kept it for itself.
        return undefined;
    }
  }

  #agent(id: string, { agentId = id, ...entry }: JsonObject): undefined {
    const { name, kind } = entry;
    const isKind = kind === 'agent' || kind === 'node' || kind === 'voice';
    if (asNonEmptyText(agentId) !== undefined && typeof name === 'string' && isKind) {
      this.#agents[agentId as string] = { ...entry, name, kind };
    }
  }
}

function interjectionOf(id: string, { role, name, parts, ...intertie }: JsonObject): InterjectionPart {
  return {
    type: 'interjection',
    ...(id !== '' && { id }),
    role: role === 'system' ? 'system' : 'user',
    ...defined({ name: asText(name) }),
    parts: (Array.isArray(parts) ? parts.filter(isFields) : []) as unknown as MessagePart[],
    ...parseIdentity(intertie),
  };
}

function fileReferenceOf(
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
