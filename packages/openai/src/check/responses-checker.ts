import { asFields, asNonEmptyText, asNumber, asText, isFields } from '@intertie/core/internal';
import type { Checker, Fields, Report } from '@intertie/core/internal';
import { terminalEvents } from '../shared/response-event.ts';
import type { ResponsesRule } from './responses-rules.ts';

type Complain = (rule: ResponsesRule, message: string) => void;
type OpenItem = { id: string; type: string; isDone: boolean; parts: Map<number, string> };

/** Creates a checker for one stream of the Responses API. It reports what makes clients fail, or lose text. */
export function createResponsesChecker(): Checker {
  const state = new ResponseChecker();
  return {
    feed: (item, report) => state.feed(item, complainTo(report)),
    end: (report) => state.end(complainTo(report)),
  };
}

function complainTo(report: Report): Complain {
  return (rule, message) => report.violation(rule, message);
}

class ResponseChecker {
  #sequence: number | undefined;
  #id: string | undefined;
  #isFirst = true;
  #hasEnded = false;
  #items = new Map<number, OpenItem>();
  #ids = new Set<string>();

  feed(item: unknown, complain: Complain): void {
    const type = isFields(item) ? asNonEmptyText(item.type) : undefined;
    if (!isFields(item) || type === undefined || !/^(?:response\.|error$|keepalive$)/.test(type)) {
      return complain('shape', `${JSON.stringify(type) ?? 'An item without a type'} is not an event of a response.`);
    }
    if (type === 'keepalive') return;
    if (this.#hasEnded) return complain('after-end', `${type} follows the end of the response.`);
    this.#checkSequence(item, complain);
    if (this.#isFirst && type !== 'response.created' && type !== 'error') {
      complain('created-first', `The stream starts with ${type}.`);
    }
    this.#isFirst = false;
    if (isFields(item.response)) this.#checkResponse(type, item.response, complain);
    else if (type === 'error') this.#hasEnded = true;
    else if (type === 'response.output_item.added') this.#add(item, complain);
    else if (item.output_index !== undefined) this.#checkItemEvent(type, item, complain);
  }

  end(complain: Complain): void {
    if (!this.#hasEnded) complain('end', 'The stream ends before the response.');
  }

  #checkSequence({ sequence_number: sequence }: Fields, complain: Complain): void {
    const found = asNumber(sequence);
    if (found === undefined) return complain('sequence', 'The event has no sequence number.');
    const expected = this.#sequence === undefined ? found : this.#sequence + 1;
    if (found !== expected) complain('sequence', `The sequence number is ${found}, not ${expected}.`);
    this.#sequence = found;
  }

  #checkResponse(type: string, response: Fields, complain: Complain): void {
    const id = asNonEmptyText(response.id);
    if (id === undefined || (this.#id !== undefined && id !== this.#id)) {
      complain('same-response', `The id of the response is ${JSON.stringify(response.id)}, not ${this.#id}.`);
    }
    this.#id ??= id;
    if (!terminalEvents.has(type)) return;
    this.#hasEnded = true;
    if (!isFields(response.usage)) complain('usage', 'The final response has no usage.');
    for (const { id: open, isDone } of this.#items.values()) {
      if (!isDone && type === 'response.completed') complain('item-done', `Item ${open} is not done.`);
    }
    for (const output of Array.isArray(response.output) ? response.output : []) {
      const outputId = asFields(output).id;
      if (!this.#ids.has(String(outputId))) complain('final-output', `Item ${String(outputId)} is not in the stream.`);
    }
  }

  #add({ output_index: index, item }: Fields, complain: Complain): void {
    const { type, id } = asFields(item);
    if (index !== this.#items.size) complain('item-index', `The index is ${String(index)}, not ${this.#items.size}.`);
    if (asNonEmptyText(id) === undefined || asNonEmptyText(type) === undefined || this.#ids.has(String(id))) {
      complain('item-id', `The item has the id ${JSON.stringify(id)} and the type ${JSON.stringify(type)}.`);
    }
    this.#ids.add(String(id));
    this.#items.set(Number(index), { id: String(id), type: String(type), isDone: false, parts: new Map() });
  }

  #checkItemEvent(type: string, event: Fields, complain: Complain): void {
    const item = this.#items.get(Number(event.output_index));
    const id = asNonEmptyText(event.item_id) ?? asNonEmptyText(asFields(event.item).id);
    const isLate = item?.isDone === true && type !== 'response.output_text.annotation.added';
    if (item === undefined || isLate || item.id !== id) {
      return complain('item-known', `${type} names item ${id} at ${String(event.output_index)}, which is not open.`);
    }
    if (type === 'response.output_item.done') item.isDone = true;
    else if (type === 'response.content_part.added') item.parts.set(Number(event.content_index), '');
    else if (/^response\.(?:output_text|reasoning_text|reasoning)\.(?:delta|done)$/.test(type)) {
      checkText(type, item, event, complain);
    }
  }
}

function checkText(type: string, item: OpenItem, event: Fields, complain: Complain): void {
  const index = Number(event.content_index);
  const text = item.parts.get(index);
  if (text === undefined) return complain('part-known', `Part ${index} of item ${item.id} was not added.`);
  if (type.endsWith('.delta')) return void item.parts.set(index, text + (asText(event.delta) ?? ''));
  if (event.text !== text) complain('text-done', `The text of item ${item.id} is not the sum of its deltas.`);
}
