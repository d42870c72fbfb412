import type { Complain } from './ag-ui-rules.ts';
import { checkUsage } from './check-usage.ts';
import { asFields, asText, type Fields } from '../shared/read-fields.ts';

const kinds: { readonly [type: string]: string } = {
  TEXT_MESSAGE_START: 'a text',
  REASONING_MESSAGE_START: 'reasoning',
  TOOL_CALL_RESULT: 'a result',
  ACTIVITY_SNAPSHOT: 'an activity',
};

/** What the protocol asks of an agent beyond what ends a client's run: nothing that is told gets lost or is told wrongly. */
export class AGUIProducer {
  #kinds = new Map<string, string>();
  #encrypted = new Set<string>();
  /** The sub-agents that an event has named. */
  #named = new Set<string>();

  feed(event: Fields, complain: Complain): void {
    const type = String(event.type);
    this.#subagent(type, asText(event.subagentRunId), complain);
    if (Object.hasOwn(kinds, type)) this.#message(String(event.messageId), kinds[type]!, complain);
    switch (type) {
      case 'RUN_STARTED':
        for (const things of [this.#kinds, this.#encrypted, this.#named]) things.clear();
        return;
      case 'REASONING_ENCRYPTED_VALUE':
        return void this.#encrypted.add(String(event.entityId));
      case 'MESSAGES_SNAPSHOT':
        return this.#snapshot(event.messages, complain);
      case 'RUN_FINISHED':
        if (asFields(event.outcome).type === 'cancelled' && event.result !== undefined)
          complain('cancelled-result', 'It was cancelled, and has a result.');
        return checkUsage(event.usage, complain);
      case 'RUN_ERROR':
        return checkUsage(event.usage, complain);
      default:
    }
  }

  /** To a client all messages are in one list: it adds what comes to the one that has the id. */
  #message(id: string, kind: string, complain: Complain): void {
    const known = this.#kinds.get(id);
    if (known !== undefined && known !== kind) complain('message-id', `${id} is ${known}, and now ${kind}.`);
    this.#kinds.set(id, known ?? kind);
  }

  #subagent(type: string, id: string | undefined, complain: Complain): void {
    if (id === undefined) return;
    if (type === 'SUBAGENT_STARTED' && this.#named.has(id)) {
      complain('subagent-first', `${id} is announced after an event of it.`);
    } else if (!type.startsWith('SUBAGENT_')) this.#named.add(id);
  }

  #snapshot(messages: unknown, complain: Complain): void {
    const told = (Array.isArray(messages) ? messages : []).map(asFields);
    const calls = told.flatMap(({ toolCalls }) => (Array.isArray(toolCalls) ? toolCalls.map(asFields) : []));
    for (const { id, encryptedValue } of [...told, ...calls]) {
      if (encryptedValue === undefined && this.#encrypted.has(String(id)))
        complain('snapshot-encrypted', `${String(id)} comes without it.`);
    }
  }
}
