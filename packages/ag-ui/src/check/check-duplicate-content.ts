import type { Complain } from './ag-ui-rules.ts';
import { asFields, asText, type Fields } from '../shared/read-fields.ts';
import { TextPrint } from './text-fingerprint.ts';

/** From how many characters on a beginning that is the same is no accident. */
const longEnough = 16;
/** How many messages and calls are remembered, the latest of them: a stream of many runs may be endless. */
const maxItems = 65_536;

type Item = {
  /** What its start said. */
  opening: Fields;
  /** The run that it was last told in. */
  run: number;
  /** All that the client has of it. */
  told: TextPrint;
  /** Where it had something before this run, or by a snapshot: what was streamed since. */
  again: Again | undefined;
};

/** What is streamed under an id that the client has. Of what is longer, only as much is looked at as the client had. */
type Again = { readonly held: TextPrint; readonly beginning: TextPrint; isLonger: boolean };

const openings: { readonly [type: string]: readonly string[] } = {
  TEXT_MESSAGE_START: ['role', 'name'],
  REASONING_MESSAGE_START: [],
  TOOL_CALL_START: ['toolCallName', 'parentMessageId'],
};

/**
 * Whether what the client has is streamed once more, or goes on as something else. No text is kept, and of ids the latest:
 * what is told again after so many others passes.
 */
export class AGUIRetold {
  #items = new Map<string, Item>();
  #run = 0;

  feed(event: Fields, complain: Complain): void {
    const type = String(event.type);
    switch (type) {
      case 'RUN_STARTED':
        this.#run += 1;
        return this.#learn(asFields(event.input).messages);
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
        if (item) stream(this.#inRun(item), asText(event.delta) ?? '');
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
    if (known === undefined) return void this.#add(id, event);
    for (const field of openings[type] ?? []) {
      const before = known.opening[field];
      if (before !== undefined && event[field] !== undefined && before !== event[field]) {
        complain('reopened', `${field} of ${id} is not what it was.`);
      }
    }
  }

  #end(id: string, complain: Complain): void {
    const item = this.#items.get(id);
    const again = item && this.#inRun(item).again;
    if (!again?.beginning.equals(again.held)) return;
    if (!again.isLonger || again.held.length >= longEnough)
      complain('retold', `${id} is there already, and what it says is added to it.`);
  }

  #learn(messages: unknown): void {
    for (const message of Array.isArray(messages) ? messages.map(asFields) : []) {
      this.#know(String(message.id), message, asText(message.content) ?? '');
      for (const call of Array.isArray(message.toolCalls) ? message.toolCalls.map(asFields) : []) {
        const { name: toolCallName, arguments: text } = asFields(call.function);
        this.#know(String(call.id), { toolCallName, parentMessageId: message.id }, asText(text) ?? '');
      }
    }
  }

  #know(id: string, opening: Fields, text: string): void {
    const item = this.#items.get(id) ?? this.#add(id, opening);
    item.told = new TextPrint();
    item.told.add(text);
    item.run = this.#run;
    hold(item);
  }

  #add(id: string, { role, name, toolCallName, parentMessageId }: Fields): Item {
    const opening = { role, name, toolCallName, parentMessageId };
    const item: Item = { opening, run: this.#run, told: new TextPrint(), again: undefined };
    const [oldest] = this.#items.keys();
    if (this.#items.size >= maxItems) this.#items.delete(oldest!);
    this.#items.set(id, item);
    return item;
  }

  /** What was streamed by an earlier run is held now. Said when it is looked at: each run would go through all of them. */
  #inRun(item: Item): Item {
    if (item.run !== this.#run) hold(item);
    item.run = this.#run;
    return item;
  }
}

function hold(item: Item): void {
  const held = item.told.copy();
  item.again = held.length === 0 ? undefined : { held, beginning: new TextPrint(), isLonger: false };
}

function stream({ told, again }: Item, delta: string): void {
  told.add(delta);
  if (!again || again.isLonger) return;
  const rest = again.held.length - again.beginning.length;
  again.beginning.add(delta.slice(0, rest));
  again.isLonger = delta.length > rest;
}

function idOf({ toolCallId, messageId }: Fields): string {
  return String(toolCallId ?? messageId);
}
