import type { Complain } from './ag-ui-rules.ts';
import { asFields, asText, type Fields } from '../shared/read-fields.ts';
import { TextFingerprint } from './text-fingerprint.ts';

/** Length from which an equal prefix is not a coincidence. */
const minPrefixLength = 16;
/** Number of messages and calls to remember. Bounded, because a stream of many runs may be endless. */
const maxItems = 65_536;

type Item = {
  /** Fields of its start event. */
  opening: Fields;
  /** The run that last streamed it. */
  run: number;
  /** Everything that the client has of it. */
  text: TextFingerprint;
  /** Content streamed since, if the client had some before this run or from a snapshot. */
  repeat: Repeat | undefined;
};

/** Content streamed under a known id. It is compared up to the length of the known content. */
type Repeat = { readonly known: TextFingerprint; readonly streamed: TextFingerprint; isLonger: boolean };

const openings: { readonly [type: string]: readonly string[] } = {
  TEXT_MESSAGE_START: ['role', 'name'],
  REASONING_MESSAGE_START: [],
  TOOL_CALL_START: ['toolCallName', 'parentMessageId'],
};

/**
 * Detects content that is streamed again although the client has it, and ids that are reused for something else. Only
 * fingerprints of the latest `maxItems` messages and calls are kept; repetitions of older ones are not detected.
 */
export class DuplicateContentChecker {
  #items = new Map<string, Item>();
  #run = 0;

  feed(event: Fields, complain: Complain): void {
    const type = String(event.type);
    switch (type) {
      case 'RUN_STARTED':
        this.#run += 1;
        return this.#readMessages(asFields(event.input).messages);
      case 'MESSAGES_SNAPSHOT':
        return this.#readMessages(event.messages);
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START':
      case 'TOOL_CALL_START':
        return this.#start(event, type, complain);
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
      case 'TOOL_CALL_ARGS': {
        const item = this.#items.get(getId(event));
        if (item) addDelta(this.#enterRun(item), asText(event.delta) ?? '');
        return;
      }
      case 'TEXT_MESSAGE_END':
      case 'REASONING_MESSAGE_END':
      case 'TOOL_CALL_END':
        return this.#end(getId(event), complain);
      default:
    }
  }

  #start(event: Fields, type: string, complain: Complain): void {
    const id = getId(event);
    const existing = this.#items.get(id);
    if (existing === undefined) return void this.#add(id, event);
    for (const field of openings[type] ?? []) {
      const before = existing.opening[field];
      if (before !== undefined && event[field] !== undefined && before !== event[field]) {
        complain('reopened', `${field} of ${id} has changed.`);
      }
    }
  }

  #end(id: string, complain: Complain): void {
    const item = this.#items.get(id);
    const repeat = item && this.#enterRun(item).repeat;
    if (!repeat?.streamed.equals(repeat.known)) return;
    if (!repeat.isLonger || repeat.known.length >= minPrefixLength)
      complain('retold', `${id} is already known, and its content is appended.`);
  }

  #readMessages(messages: unknown): void {
    for (const message of Array.isArray(messages) ? messages.map(asFields) : []) {
      this.#register(String(message.id), message, asText(message.content) ?? '');
      for (const call of Array.isArray(message.toolCalls) ? message.toolCalls.map(asFields) : []) {
        const { name: toolCallName, arguments: text } = asFields(call.function);
        this.#register(String(call.id), { toolCallName, parentMessageId: message.id }, asText(text) ?? '');
      }
    }
  }

  #register(id: string, opening: Fields, text: string): void {
    const item = this.#items.get(id) ?? this.#add(id, opening);
    item.text = new TextFingerprint();
    item.text.add(text);
    item.run = this.#run;
    startRepeat(item);
  }

  #add(id: string, { role, name, toolCallName, parentMessageId }: Fields): Item {
    const opening = { role, name, toolCallName, parentMessageId };
    const item: Item = { opening, run: this.#run, text: new TextFingerprint(), repeat: undefined };
    const [oldest] = this.#items.keys();
    if (this.#items.size >= maxItems) this.#items.delete(oldest!);
    this.#items.set(id, item);
    return item;
  }

  /** Starts comparing with the content of earlier runs. Lazy: visiting all items at each start would be slow. */
  #enterRun(item: Item): Item {
    if (item.run !== this.#run) startRepeat(item);
    item.run = this.#run;
    return item;
  }
}

function startRepeat(item: Item): void {
  const known = item.text.copy();
  item.repeat = known.length === 0 ? undefined : { known, streamed: new TextFingerprint(), isLonger: false };
}

function addDelta({ text, repeat }: Item, delta: string): void {
  text.add(delta);
  if (!repeat || repeat.isLonger) return;
  const remaining = repeat.known.length - repeat.streamed.length;
  repeat.streamed.add(delta.slice(0, remaining));
  repeat.isLonger = delta.length > remaining;
}

function getId({ toolCallId, messageId }: Fields): string {
  return String(toolCallId ?? messageId);
}
