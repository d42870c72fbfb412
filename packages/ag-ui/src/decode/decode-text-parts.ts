import type { AgentEvent, Emit, MessagePart, Meta } from '@intertie/core';
import { mergeMeta, type Attribution } from '@intertie/core/internal';
import { slotOf } from './decode-agents.ts';
import type { AGUISaidReader } from './decode-attribution.ts';
import type { MessageIds } from '../shared/message-ids.ts';
import { defined, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

type Write = Emit<AgentEvent>;
/** `words`: of an interjection, which is told when it is whole. */
type Text = { id: string; meta: Meta | undefined; interjection?: { event: Fields; said: Attribution; words: string } };

/** Texts and reasoning. Texts of other roles than the assistant's are interjections. */
export class AGUIWordReader {
  #ids: MessageIds;
  #reader: AGUISaidReader;
  #texts = new Map<string, Text>();
  #reasoning = new Map<string, Text>();

  constructor(ids: MessageIds, reader: AGUISaidReader) {
    this.#ids = ids;
    this.#reader = reader;
  }

  get isStreaming(): boolean {
    return this.#texts.size > 0 || this.#reasoning.size > 0;
  }

  textStart(event: Fields, emit: Write): boolean {
    const messageId = asNonEmptyText(event.messageId);
    if (messageId === undefined || this.#texts.has(messageId)) return false;
    const role = event.role ?? 'assistant';
    const isOwn = role === 'assistant';
    const said = this.#reader.said(isOwn ? event : { ...event, name: undefined }, emit);
    const id = this.#ids.open(messageId);
    if (isOwn) {
      this.#texts.set(messageId, { id, meta: said.providerMetadata });
      emit({ type: 'text-start', id, ...said });
    } else this.#texts.set(messageId, { id, meta: said.providerMetadata, interjection: { event, said, words: '' } });
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
    const said = this.#later(text, event);
    if (text.interjection) return interject(text, text.interjection, emit);
    const { citations } = slotOf(event);
    emit({ type: 'text-end', id: text.id, ...(Array.isArray(citations) && { citations }), ...said });
    return true;
  }

  reasoningStart(event: Fields, emit: Write): boolean {
    const messageId = asNonEmptyText(event.messageId);
    if (messageId === undefined || this.#reasoning.has(messageId)) return false;
    const said = this.#reader.said(event, emit);
    const id = this.#ids.open(messageId);
    this.#reasoning.set(messageId, { id, meta: said.providerMetadata });
    emit({ type: 'reasoning-start', id, ...said });
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
    emit({ type: 'reasoning-end', id: part.id, ...this.#later(part, event) });
    return true;
  }

  #delta(kind: 'text' | 'reasoning', open: ReadonlyMap<string, Text>, event: Fields, emit: Write): boolean {
    const part = open.get(String(event.messageId));
    const words = asText(event.delta);
    if (part === undefined || words === undefined) return false;
    const said = event.metadata === undefined ? undefined : this.#later(part, event);
    if (part.interjection) part.interjection.words += words;
    else if (said?.providerMetadata) emit({ type: `${kind}-delta`, id: part.id, delta: words, ...said });
    else if (words !== '') emit({ type: `${kind}-delta`, id: part.id, delta: words });
    return true;
  }

  #later(part: Text, event: Fields): { providerMetadata?: Meta } {
    const later = this.#reader.later(event, part.meta);
    if (later === undefined) return {};
    part.meta = mergeMeta(part.meta, later);
    return { providerMetadata: later };
  }
}

function interject(
  { id, meta }: Text,
  { event, said, words }: NonNullable<Text['interjection']>,
  emit: Write,
): boolean {
  const { parts } = slotOf(event);
  const kept = Array.isArray(parts) ? (parts as unknown as MessagePart[]) : undefined;
  const name = asNonEmptyText(event.name);
  const role = event.role === 'user' ? 'user' : 'system';
  emit({
    type: 'interjection',
    id,
    role,
    ...defined({ name }),
    parts: kept ?? [{ type: 'text', text: words }],
    ...said,
    ...(meta && { providerMetadata: meta }),
  });
  return true;
}
