import type { AgentEvent, EventOf } from '../event/event.ts';
import type { OnLoss } from '../json/loss.ts';
import { MessageFold } from './message-fold.ts';
import type { MessageSnapshot } from './message-snapshot.ts';
import type { CanonicalMessage } from '../event/message.ts';

export type MessageListOptions = {
  /** Existing messages. A continuation extends the message that its run names. */
  messages?: Iterable<CanonicalMessage>;
  onLoss?: OnLoss;
};

/**
 * Folds events into messages: feed it the events of one run after another, then read the messages. Used for streaming, storage,
 * recovery after a crash, and replay; `unfold` is its inverse.
 */
export class MessageList {
  #messages = new Map<string, CanonicalMessage | MessageFold>();
  #current: MessageFold | undefined;
  #onLoss: OnLoss;

  constructor(options: MessageListOptions = {}) {
    this.#onLoss = options.onLoss ?? (() => undefined);
    for (const message of options.messages ?? []) this.add(message);
  }

  /** Adds a message that no run produces: the user's, or one from the store. */
  add(message: CanonicalMessage): void {
    this.#messages.set(message.id, message);
  }

  feed(event: AgentEvent): void {
    if (event.type === 'run-start') this.#current = this.#open(event);
    if (this.#current) this.#current.feed(event);
    else
      this.#onLoss({ kind: 'late', what: event.type, why: 'No run has started, so there is no message to add it to.' });
  }

  /** Snapshot of the message of the latest run. O(1), also after every delta. */
  snapshot(): MessageSnapshot | undefined {
    return this.#current?.snapshot();
  }

  /** The message of the latest run. */
  get message(): CanonicalMessage | undefined {
    return this.#current?.snapshot().message;
  }

  /** All messages, in the order in which they were added. */
  get messages(): CanonicalMessage[] {
    return Array.from(this.#messages.values(), (entry) =>
      entry instanceof MessageFold ? entry.snapshot().message : entry,
    );
  }

  #open(event: EventOf<'run-start'>): MessageFold {
    const known = this.#messages.get(event.messageId);
    if (known instanceof MessageFold) return known;
    const fold = new MessageFold(known ?? newMessage(event), this.#onLoss);
    this.#messages.set(event.messageId, fold);
    return fold;
  }
}

function newMessage(event: EventOf<'run-start'>): CanonicalMessage {
  return {
    id: event.messageId,
    threadId: event.threadId,
    role: 'assistant',
    type: 'text',
    content: { format: 2, parts: [] },
    createdAt: new Date(event.at ?? 0),
    ...(event.parentMessageId !== undefined && { parentId: event.parentMessageId }),
  };
}

/** Folds the events of a run into its message. Undefined if no run starts among them. */
export function foldEvents(events: Iterable<AgentEvent>, options?: MessageListOptions): CanonicalMessage | undefined {
  const list = new MessageList(options);
  for (const event of events) list.feed(event);
  return list.message;
}
