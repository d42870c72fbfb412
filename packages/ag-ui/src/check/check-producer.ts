import type { Complain } from './ag-ui-rules.ts';
import { asFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

const kinds: { readonly [type: string]: string } = {
  TEXT_MESSAGE_START: 'a text',
  REASONING_MESSAGE_START: 'reasoning',
  TOOL_CALL_RESULT: 'a result',
  ACTIVITY_SNAPSHOT: 'an activity',
};

/** Checks requirements on agents that clients do not enforce: violations lose or corrupt information. */
export class ProducerChecker {
  #kinds = new Map<string, string>();
  #encrypted = new Set<string>();
  /** Sub-agents that an event has named. */
  #named = new Set<string>();

  feed(event: Fields, complain: Complain): void {
    const type = String(event.type);
    this.#subagent(type, asText(event.subagentRunId), complain);
    if (Object.hasOwn(kinds, type)) this.#message(String(event.messageId), kinds[type]!, complain);
    switch (type) {
      case 'RUN_STARTED':
        for (const ids of [this.#kinds, this.#encrypted, this.#named]) ids.clear();
        return;
      case 'REASONING_ENCRYPTED_VALUE':
        return void this.#encrypted.add(String(event.entityId));
      case 'MESSAGES_SNAPSHOT':
        return this.#snapshot(event.messages, complain);
      case 'RUN_FINISHED':
        if (asFields(event.outcome).type === 'cancelled' && event.result !== undefined)
          complain('cancelled-result', 'A cancelled run has a result.');
        return checkUsage(event.usage, complain);
      case 'RUN_ERROR':
        return checkUsage(event.usage, complain);
      default:
    }
  }

  /** Clients keep all messages in one list and append to the message with the same id. */
  #message(id: string, kind: string, complain: Complain): void {
    const known = this.#kinds.get(id);
    if (known !== undefined && known !== kind) complain('message-id', `${id} was ${known} and is now ${kind}.`);
    this.#kinds.set(id, known ?? kind);
  }

  #subagent(type: string, id: string | undefined, complain: Complain): void {
    if (id === undefined) return;
    if (type === 'SUBAGENT_STARTED' && this.#named.has(id)) {
      complain('subagent-first', `${id} is announced after one of its events.`);
    } else if (!type.startsWith('SUBAGENT_')) this.#named.add(id);
  }

  #snapshot(messages: unknown, complain: Complain): void {
    const entries = (Array.isArray(messages) ? messages : []).map(asFields);
    const calls = entries.flatMap(({ toolCalls }) => (Array.isArray(toolCalls) ? toolCalls.map(asFields) : []));
    for (const { id, encryptedValue } of [...entries, ...calls]) {
      if (encryptedValue === undefined && this.#encrypted.has(String(id)))
        complain('snapshot-encrypted', `${String(id)} has no encrypted value in the snapshot.`);
    }
  }
}

/** Checks that each model has one entry, and that parts do not exceed their whole. */
export function checkUsage(usage: unknown, complain: Complain): void {
  const models = new Set<string>();
  for (const used of Array.isArray(usage) ? usage.map(asFields) : []) {
    const model = JSON.stringify([asNonEmptyText(used.provider), asNonEmptyText(used.model)]);
    if (models.has(model)) complain('usage', `${model} has two entries.`);
    models.add(model);
    const { inputTokens: input, outputTokens: output, totalTokens: total } = used;
    if (isMore(used.cachedInputTokens, input) || isMore(used.cacheWriteInputTokens, input))
      complain('usage', 'Cached tokens exceed input tokens.');
    if (isMore(used.reasoningTokens, output)) complain('usage', 'Reasoning tokens exceed output tokens.');
    if (isNumber(input) && isNumber(output) && isNumber(total) && total !== input + output)
      complain('usage', 'The total is not the sum of input and output.');
  }
}

function isMore(part: unknown, whole: unknown): boolean {
  return isNumber(part) && isNumber(whole) && part > whole;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}
