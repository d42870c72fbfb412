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
  /** Default: a fresh id. The message has it from its first flush to its last. */
  messageId?: string;
  runId?: string;
  /** The message that is answered. Default: the last of `messages`. */
  parentId?: string;
  /** The branch so far, so that no id is used twice. */
  messages?: CanonicalMessage[];
  /** The paused message that goes on, after an approval or a client's tool: the answer grows under its id. */
  continues?: CanonicalMessage;
  /** The tool set of the call: who runs what. */
  tools?: ToolExecutors;
  onLoss?: OnLoss;
  now?: () => number;
  generateId?: () => string;
}

/** A message that grows with the parts of a `fullStream`. */
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

/** Something that must not be lost has happened: a tool has run, or the run is over or about to fail. */
function isFlushPoint(event: AgentEvent): boolean {
  if (event.type === 'tool-result') return event.status !== 'ok' || !event.preliminary;
  return event.type === 'run-end' || (event.type === 'notice' && event.level === 'error');
}

/** Begins a message: feed it the parts of one `streamText` call with `updateFromStreamPart`. */
export function createMessageListState(options: MessageListStateOptions): MessageListState {
  return new MessageAccumulator(options);
}

/** Takes one part of `fullStream`, of 6 or 7. */
export function updateFromStreamPart(part: unknown, state: MessageListState): void {
  asAccumulator(state).update(part);
}

/** The message so far, if it is worth saving now (after a tool's result, and when the run is over), else null. */
export function flushToCanonical(state: MessageListState): CanonicalMessage | null {
  return asAccumulator(state).flush();
}

/**
 * Says that no part will follow. A stream that has finished needs no such word; after one that broke, this closes the message,
 * and the next flush has it.
 */
export function endMessageListState(state: MessageListState, end: End = { reason: 'eof' }): void {
  asAccumulator(state).end(end);
}

function asAccumulator(state: MessageListState): MessageAccumulator {
  if (state instanceof MessageAccumulator) return state;
  throw new TypeError('This is no state of a message list. Make one with createMessageListState().');
}
