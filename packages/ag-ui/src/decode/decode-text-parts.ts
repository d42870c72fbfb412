import type { AgentEvent, Emit, MessagePart, Meta } from '@intertie/core';
import { mergeMeta, type Attribution } from '@intertie/core/internal';
import { readMetadata } from './decode-agents.ts';
import type { AgentMessageList } from './agent-message-list.ts';
import type { AttributionDecoder } from './decode-attribution.ts';
import type { MessageIds } from '../shared/message-ids.ts';
import { defined, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

type Write = Emit<AgentEvent>;
/** `text`: content of an interjection, which is emitted when it is complete. */
type Text = {
  id: string;
  meta: Meta | undefined;
  interjection?: { event: Fields; attribution: Attribution; text: string };
};

/** Decodes text and reasoning parts. Texts of roles other than the assistant are interjections. */
export class TextPartDecoder {
  #ids: MessageIds;
  #messages: AgentMessageList;
  #attribution: AttributionDecoder;
  #texts = new Map<string, Text>();
  #reasoning = new Map<string, Text>();

  constructor(ids: MessageIds, messages: AgentMessageList, attribution: AttributionDecoder) {
    this.#ids = ids;
    this.#messages = messages;
    this.#attribution = attribution;
  }

  get isStreaming(): boolean {
    return this.#texts.size > 0 || this.#reasoning.size > 0;
  }

  textStart(event: Fields, emit: Write): boolean {
    const messageId = asNonEmptyText(event.messageId);
    if (messageId === undefined || this.#texts.has(messageId)) return false;
    const role = event.role ?? 'assistant';
    const isOwn = role === 'assistant';
    const attribution = this.#attribution.read(isOwn ? event : { ...event, name: undefined }, emit);
    const id = this.#open(messageId, event);
    if (isOwn) {
      this.#texts.set(messageId, { id, meta: attribution.providerMetadata });
      emit({ type: 'text-start', id, ...attribution });
    } else
      this.#texts.set(messageId, {
        id,
        meta: attribution.providerMetadata,
        interjection: { event, attribution, text: '' },
      });
    return true;
  }

  textDelta(event: Fields, emit: Write): boolean {
    return this.#delta('text', this.#texts, event, emit);
  }

  textEnd(event: Fields, emit: Write): boolean {
    const messageId = String(event.messageId);
    const text = this.#texts.get(messageId);
    if (text === undefined) return false;
    this.#texts.delete(messageId);
    const meta = this.#readLaterMeta(text, event);
    if (text.interjection) return interject(text, text.interjection, emit);
    const { citations } = readMetadata(event);
    emit({ type: 'text-end', id: text.id, ...(Array.isArray(citations) && { citations }), ...meta });
    return true;
  }

  reasoningStart(event: Fields, emit: Write): boolean {
    const messageId = asNonEmptyText(event.messageId);
    if (messageId === undefined || this.#reasoning.has(messageId)) return false;
    const attribution = this.#attribution.read(event, emit);
    const id = this.#open(messageId, event);
    this.#reasoning.set(messageId, { id, meta: attribution.providerMetadata });
    emit({ type: 'reasoning-start', id, ...attribution });
    return true;
  }

  reasoningDelta(event: Fields, emit: Write): boolean {
    return this.#delta('reasoning', this.#reasoning, event, emit);
  }

  reasoningEnd(event: Fields, emit: Write): boolean {
    const messageId = String(event.messageId);
    const part = this.#reasoning.get(messageId);
    if (part === undefined) return false;
    this.#reasoning.delete(messageId);
    emit({ type: 'reasoning-end', id: part.id, ...this.#readLaterMeta(part, event) });
    return true;
  }

  #open(messageId: string, event: Fields): string {
    const id = this.#ids.open(messageId);
    this.#messages.addPart(messageId, id, event);
    return id;
  }

  #delta(kind: 'text' | 'reasoning', open: ReadonlyMap<string, Text>, event: Fields, emit: Write): boolean {
    const part = open.get(String(event.messageId));
    const delta = asText(event.delta);
    if (part === undefined || delta === undefined) return false;
    const meta = event.metadata === undefined ? undefined : this.#readLaterMeta(part, event);
    if (part.interjection) part.interjection.text += delta;
    else if (meta?.providerMetadata) emit({ type: `${kind}-delta`, id: part.id, delta, ...meta });
    else if (delta !== '') emit({ type: `${kind}-delta`, id: part.id, delta });
    return true;
  }

  #readLaterMeta(part: Text, event: Fields): { providerMetadata?: Meta } {
    const later = this.#attribution.readLaterMeta(event, part.meta);
    if (later === undefined) return {};
    part.meta = mergeMeta(part.meta, later);
    return { providerMetadata: later };
  }
}

function interject(
  { id, meta }: Text,
  { event, attribution, text }: NonNullable<Text['interjection']>,
  emit: Write,
): boolean {
  const { parts } = readMetadata(event);
  const original = Array.isArray(parts) ? (parts as unknown as MessagePart[]) : undefined;
  const name = asNonEmptyText(event.name);
  const role = event.role === 'user' ? 'user' : 'system';
  emit({
    type: 'interjection',
    id,
    role,
    ...defined({ name }),
    parts: original ?? [{ type: 'text', text }],
    ...attribution,
    ...(meta && { providerMetadata: meta }),
  });
  return true;
}
