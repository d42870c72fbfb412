import type { EventOf, JsonObject } from '@intertie/core';
import type { Flavour, OutputItem } from '../shared/response-event.ts';
import type { ItemEntry, OutputItems } from './output-items.ts';

type OpenText = { entry: ItemEntry; text: string; kind: 'text' | 'reasoning'; annotations: JsonObject[] };

/** Encodes text as message items and reasoning as reasoning items, each with one content part. */
export class TextItems {
  #items: OutputItems;
  #reasoningEvent: string;
  #open = new Map<string, OpenText>();
  /** Sources that arrived before the first text. */
  #sources: JsonObject[] = [];

  constructor(items: OutputItems, flavour: Flavour) {
    this.#items = items;
    this.#reasoningEvent = flavour === 'openai' ? 'response.reasoning_text' : 'response.reasoning';
  }

  start({ type, id, stepId }: EventOf<'text-start' | 'reasoning-start'>): void {
    const kind = type === 'text-start' ? 'text' : 'reasoning';
    const status = 'in_progress';
    const item: OutputItem =
      kind === 'text'
        ? { id: `msg_${id}`, type: 'message', status, role: 'assistant', content: [] }
        : { id: `rs_${id}`, type: 'reasoning', status, summary: [], content: [] };
    const open: OpenText = { entry: this.#items.add(item, stepId), text: '', kind, annotations: [] };
    this.#open.set(id, open);
    this.#write(open, 'response.content_part.added', { part: toContentPart(open) });
    if (kind === 'text') for (const source of this.#sources.splice(0)) this.#annotate(open, source);
  }

  /** Returns whether the part is open. */
  delta({ id, delta }: EventOf<'text-delta' | 'reasoning-delta'>): boolean {
    const open = this.#open.get(id);
    if (open === undefined) return false;
    open.text += delta;
    if (open.kind === 'text') this.#write(open, 'response.output_text.delta', { delta, logprobs: [] });
    else this.#write(open, `${this.#reasoningEvent}.delta`, { delta });
    return true;
  }

  end(id: string, status: 'completed' | 'incomplete' = 'completed'): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    const part = toContentPart(open);
    const { text } = open;
    if (open.kind === 'text') this.#write(open, 'response.output_text.done', { text, logprobs: [] });
    else this.#write(open, `${this.#reasoningEvent}.done`, { text });
    this.#write(open, 'response.content_part.done', { part });
    this.#items.close(open.entry, { status, content: [part] });
  }

  /** Ends the open part of an item. */
  endItem(entry: ItemEntry): void {
    for (const [id, open] of this.#open) if (open.entry === entry) this.end(id, 'incomplete');
  }

  endAll(): void {
    for (const id of this.#open.keys()) this.end(id, 'incomplete');
  }

  /** Adds a source to the open text, or else to the last one. Without any text, it waits for the first. */
  cite({ url = '', title = url }: EventOf<'source'>): void {
    const source: JsonObject = { type: 'url_citation', url, title };
    const open = [...this.#open.values()].findLast(({ kind }) => kind === 'text');
    if (open) return this.#annotate(open, source);
    const last = this.#items.lastMessage;
    if (last === undefined) return void this.#sources.push(source);
    const [part] = last.item.content as [JsonObject & { text: string; annotations: JsonObject[] }];
    const annotations = [...part.annotations];
    this.#annotate({ entry: last, text: part.text, kind: 'text', annotations }, source);
    last.item = { ...last.item, content: [{ ...part, annotations }] };
  }

  /** Number of sources that no text could carry. */
  get uncited(): number {
    return this.#sources.length;
  }

  #annotate(open: OpenText, source: JsonObject): void {
    const { length } = open.text;
    const annotation = { ...source, start_index: length, end_index: length };
    const annotation_index = open.annotations.push(annotation) - 1;
    this.#write(open, 'response.output_text.annotation.added', { annotation_index, annotation });
  }

  #write({ entry }: OpenText, type: string, fields: JsonObject): void {
    this.#items.writeOf(entry, type, { content_index: 0, ...fields });
  }
}

function toContentPart({ kind, text, annotations }: OpenText): JsonObject {
  if (kind === 'reasoning') return { type: 'reasoning_text', text };
  return { type: 'output_text', text, annotations: [...annotations], logprobs: [] };
}
