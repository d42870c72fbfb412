import type { AGUIRule } from './ag-ui-rules.ts';
import { fieldsOf, nameOf, type Fields } from './read-fields.ts';

type Complain = (rule: AGUIRule, message: string) => void;

const kinds: { readonly [type: string]: string } = {
  TEXT_MESSAGE_START: 'a text',
  REASONING_MESSAGE_START: 'reasoning',
  TOOL_CALL_RESULT: 'a result',
  ACTIVITY_SNAPSHOT: 'an activity',
};

/** What the protocol asks of an agent beyond what ends a client's run: nothing that is told gets lost or is told wrongly. */
export class AGUIProducer {
  #kinds = new Map<string, string>();
  #answered = new Set<string>();
  #encrypted = new Set<string>();

  clear(): void {
    for (const things of [this.#kinds, this.#answered, this.#encrypted]) things.clear();
  }

  feed(event: Fields, complain: Complain): void {
    const type = String(event.type);
    if (Object.hasOwn(kinds, type)) this.#message(String(event.messageId), kinds[type]!, complain);
    switch (type) {
      case 'TOOL_CALL_RESULT':
        return void this.#answered.add(String(event.toolCallId));
      case 'REASONING_ENCRYPTED_VALUE':
        return void this.#encrypted.add(String(event.entityId));
      case 'MESSAGES_SNAPSHOT':
        return this.#snapshot(event.messages, complain);
      case 'RUN_FINISHED':
        this.#outcome(event, complain);
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

  #outcome({ outcome, result }: Fields, complain: Complain): void {
    const { type, pendingToolCallIds: pending } = fieldsOf(outcome);
    if (type === 'cancelled' && result !== undefined)
      complain('cancelled-result', 'It was cancelled, and has a result.');
    if (!Array.isArray(pending)) return;
    // Of a call that is not named nobody here knows: the client may have answered it while the run went on.
    const answered = pending.filter((id) => this.#answered.has(String(id)));
    if (answered.length > 0) complain('pending-calls', `${answered.join(', ')} is answered.`);
  }

  #snapshot(messages: unknown, complain: Complain): void {
    const told = (Array.isArray(messages) ? messages : []).map(fieldsOf);
    const calls = told.flatMap(({ toolCalls }) => (Array.isArray(toolCalls) ? toolCalls.map(fieldsOf) : []));
    for (const { id, encryptedValue } of [...told, ...calls]) {
      if (encryptedValue === undefined && this.#encrypted.has(String(id)))
        complain('snapshot-encrypted', `${String(id)} comes without it.`);
    }
  }
}

/** One entry for each model; what is a part of something is not more than that. */
function checkUsage(usage: unknown, complain: Complain): void {
  const models = new Set<string>();
  for (const used of Array.isArray(usage) ? usage.map(fieldsOf) : []) {
    const model = JSON.stringify([nameOf(used.provider), nameOf(used.model)]);
    if (models.has(model)) complain('usage', `${model} is there twice.`);
    models.add(model);
    if (isMore(used.cachedInputTokens, used.inputTokens) || isMore(used.cacheWriteInputTokens, used.inputTokens))
      complain('usage', 'More input is cached than there is.');
    if (isMore(used.reasoningTokens, used.outputTokens)) complain('usage', 'More is reasoning than there is output.');
  }
}

function isMore(part: unknown, whole: unknown): boolean {
  return typeof part === 'number' && typeof whole === 'number' && part > whole;
}
