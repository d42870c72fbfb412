import type { Complain } from './ag-ui-rules.ts';
import { fieldsOf, textOf, type Fields } from './read-fields.ts';

/** From how many characters on a beginning that is the same is no accident. */
const longEnough = 16;

type Item = {
  /** What its start said. */
  opening: Fields;
  /** What the client had before this run, or by a snapshot. */
  held: string;
  /** What was streamed since. */
  streamed: string;
};
const openings: { readonly [type: string]: readonly string[] } = {
  TEXT_MESSAGE_START: ['role', 'name'],
  REASONING_MESSAGE_START: [],
  TOOL_CALL_START: ['toolCallName', 'parentMessageId'],
};

/** Whether what the client has is streamed once more, or goes on as something else. */
export class AGUIRetold {
  #items = new Map<string, Item>();

  feed(event: Fields, complain: Complain): void {
    const type = String(event.type);
    switch (type) {
      case 'RUN_STARTED':
        // What was streamed is held now.
        for (const item of this.#items.values()) hold(item, item.held + item.streamed);
        return this.#learn(fieldsOf(event.input).messages);
      case 'MESSAGES_SNAPSHOT':
        return this.#learn(event.messages);
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START':
      case 'TOOL_CALL_START':
        return this.#start(event, type, complain);
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
      case 'TOOL_CALL_ARGS': {
        const item = this.#items.get(idOf(event));
        if (item) item.streamed += textOf(event.delta) ?? '';
        return;
      }
      case 'TEXT_MESSAGE_END':
      case 'REASONING_MESSAGE_END':
      case 'TOOL_CALL_END':
        return this.#end(idOf(event), complain);
      default:
    }
  }

  #start(event: Fields, type: string, complain: Complain): void {
    const id = idOf(event);
    const known = this.#items.get(id);
    if (known === undefined) return void this.#items.set(id, { opening: event, held: '', streamed: '' });
    for (const field of openings[type] ?? []) {
      const before = known.opening[field];
      if (before !== undefined && event[field] !== undefined && before !== event[field]) {
        complain('reopened', `${field} of ${id} is not what it was.`);
      }
    }
  }

  #end(id: string, complain: Complain): void {
    const { held, streamed } = this.#items.get(id) ?? { held: '', streamed: '' };
    const isSame = held === streamed || (held.length >= longEnough && streamed.startsWith(held));
    if (held !== '' && isSame) complain('retold', `${id} is there already, and what it says is added to it.`);
  }

  #learn(messages: unknown): void {
    for (const message of Array.isArray(messages) ? messages.map(fieldsOf) : []) {
      this.#know(String(message.id), message, textOf(message.content) ?? '');
      for (const call of Array.isArray(message.toolCalls) ? message.toolCalls.map(fieldsOf) : []) {
        const { name: toolCallName, arguments: text } = fieldsOf(call.function);
        this.#know(String(call.id), { toolCallName, parentMessageId: message.id }, textOf(text) ?? '');
      }
    }
  }

  #know(id: string, opening: Fields, held: string): void {
    const item = this.#items.get(id);
    if (item) hold(item, held);
    else this.#items.set(id, { opening, held, streamed: '' });
  }
}

function hold(item: Item, held: string): void {
  item.held = held;
  item.streamed = '';
}

function idOf({ toolCallId, messageId }: Fields): string {
  return String(toolCallId ?? messageId);
}
