import {
  compose,
  generateId as uuid,
  MessageList,
  seal,
  type AgentEvent,
  type CanonicalMessage,
  type Codec,
  type Emit,
  type End,
  type OnLoss,
  type RunInput,
} from '@intertie/core';
import { createFullStreamDecoder } from './decode-full-stream.ts';
import type { ToolExecutors } from './tool-executors.ts';

export interface MessageListStateOptions {
  threadId: string;
  /** Id of the message in every flush. Default: a new id. */
  messageId?: string;
  runId?: string;
  /** Message that this one answers. Default: the last of `messages`. */
  parentId?: string;
  /** Branch so far; its ids are not reused. */
  messages?: CanonicalMessage[];
  /** Paused message to continue under its id, after an approval or the result of a client tool. */
  continues?: CanonicalMessage;
  /** Tool set of the call, or the executor of each tool. */
  tools?: ToolExecutors;
  onLoss?: OnLoss;
  now?: () => number;
  generateId?: () => string;
}

/** Message under construction from the parts of a `fullStream`. */
export interface MessageListState {
  readonly threadId: string;
  readonly messageId: string;
  readonly runId: string;
}

class MessageAccumulator implements MessageListState {
  readonly threadId: string;
  readonly messageId: string;
  readonly runId: string;
  #list: MessageList;
  #codec: Codec<unknown, AgentEvent>;
  #now: () => number;
  #isFlushDue = false;
  #emit: Emit<AgentEvent>;

  constructor(options: MessageListStateOptions) {
    const { threadId, messages = [], continues, tools, onLoss = () => undefined, now = Date.now } = options;
    const { generateId = uuid } = options;
    this.threadId = threadId;
    this.messageId = continues?.id ?? options.messageId ?? generateId();
    this.runId = options.runId ?? generateId();
    this.#now = now;
    const run = this.#toRunInput(options, messages, continues);
    this.#list = new MessageList({ messages: continues ? [continues] : [], onLoss });
    this.#codec = compose(createFullStreamDecoder(run, { onLoss, ...(tools && { tools }) }), seal(run, onLoss));
    this.#emit = (event) => {
      this.#list.feed(event);
      this.#isFlushDue ||= isFlushPoint(event);
    };
  }

  update(part: unknown): void {
    this.#codec.feed(part, this.#emit);
  }

  end(end: End): void {
    this.#codec.end(end, this.#emit);
  }

  flush(): CanonicalMessage | null {
    if (!this.#isFlushDue) return null;
    this.#isFlushDue = false;
    return this.#list.message ?? null;
  }

  #toRunInput(options: MessageListStateOptions, messages: CanonicalMessage[], continues?: CanonicalMessage): RunInput {
    const { threadId, messageId, runId } = this;
    const parentMessageId = options.parentId ?? continues?.parentId ?? messages.at(-1)?.id;
    return {
      runId,
      threadId,
      messageId,
      ...(parentMessageId !== undefined && { parentMessageId }),
      ...(continues && { resumes: continues.runId ?? continues.id, message: continues.content }),
      startedAt: this.#now(),
      history: messages,
      answers: [],
      tools: [],
      context: [],
    };
  }
}

/** Whether the message should be saved after this event: a final tool result, an error, or the end of the run. */
function isFlushPoint(event: AgentEvent): boolean {
  if (event.type === 'tool-result') return event.status !== 'ok' || !event.preliminary;
  return event.type === 'run-end' || (event.type === 'notice' && event.level === 'error');
}

/** Starts a message. Feed it the parts of one `streamText` call with `updateFromStreamPart`. */
export function createMessageListState(options: MessageListStateOptions): MessageListState {
  return new MessageAccumulator(options);
}

/** Adds one part of a `fullStream` of ai 6 or 7 to the message. */
export function updateFromStreamPart(part: unknown, state: MessageListState): void {
  asAccumulator(state).update(part);
}

/** Returns the message so far if it should be saved now (after a tool result and at the end of the run), else null. */
export function flushToCanonical(state: MessageListState): CanonicalMessage | null {
  return asAccumulator(state).flush();
}

/** Ends the stream. Only needed if it broke off: closes the message, which the next flush returns. */
export function endMessageListState(state: MessageListState, end: End = { reason: 'eof' }): void {
  asAccumulator(state).end(end);
}

function asAccumulator(state: MessageListState): MessageAccumulator {
  if (state instanceof MessageAccumulator) return state;
  throw new TypeError('Not a message list state. Create one with createMessageListState().');
}
