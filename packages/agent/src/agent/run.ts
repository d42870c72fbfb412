import { createUIMessageEncoder, uiMessageStreamHeaders, writeUIMessageSSE } from '@intertie/ai-sdk';
import type { UIMessageChunkOf, UIMessageEncoderOptions, UIMessageVersion } from '@intertie/ai-sdk';
import {
  iterate,
  RunRefusedError,
  unfold,
  type AgentEvent,
  type CanonicalMessage,
  type DurableRun,
  type Emit,
  type Fault,
  type RunRecord,
  type Store,
} from '@intertie/core';
import type { Followed } from '@intertie/core/internal';
import type { LogPosition, StopResult } from '@intertie/core/store';
import { toPublicEvent, toRunHeaders } from '@intertie/core/http';
import { readRun, type Feed } from './read-run.ts';

/** A stream that is also async iterable, on every platform. */
export type IterableStream<Item> = ReadableStream<Item> & AsyncIterable<Item>;

export function iterable<Item>(stream: ReadableStream<Item>): IterableStream<Item> {
  return Object.assign(stream, { [Symbol.asyncIterator]: () => iterate(stream) });
}

export interface UIMessageResponseOptions<
  Version extends UIMessageVersion = UIMessageVersion,
> extends UIMessageEncoderOptions<Version> {
  /** Interval of silence after which a comment is sent, so that proxies keep the connection open. Default: 15 s. */
  keepAliveMs?: number;
  /** Error text for the client. Default: a generic sentence with the run id; see `createChatHandler`. */
  errorText?: (error: Fault) => string;
  headers?: HeadersInit;
}

/** A run that was started or found. Every reader gets the complete run, also after its end; cancelling a reader does not stop it. */
export class Run implements DurableRun {
  readonly runId: string;
  readonly threadId: string;
  readonly messageId: string;
  #run: DurableRun;
  #store: Store;
  #after: LogPosition | undefined;
  #message: Promise<CanonicalMessage> | undefined;

  /** `after` is the position at which `events` begins. */
  constructor(run: DurableRun, store: Store, after?: LogPosition) {
    this.runId = run.runId;
    this.threadId = run.threadId;
    this.messageId = run.messageId;
    this.#run = run;
    this.#store = store;
    this.#after = after;
  }

  /** Events in order, as they are committed. Each access creates an independent reader. */
  get events(): IterableStream<AgentEvent> {
    return iterable(this.#read<AgentEvent>((event, emit) => emit(event)));
  }

  /** Text for the user, without internal text between agents. */
  get textStream(): IterableStream<string> {
    return iterable(this.#read(createTextFeed()));
  }

  /** Resolves when the run has ended. The message's `status` is `complete`, `paused`, `aborted` or `error`. */
  get message(): Promise<CanonicalMessage> {
    this.#message ??= this.#waitForMessage();
    return this.#message;
  }

  follow(after?: LogPosition): ReadableStream<Followed> {
    return this.#run.follow(after);
  }

  record(): Promise<RunRecord> {
    return this.#run.record();
  }

  stop(reason?: string): Promise<StopResult> {
    return this.#run.stop(reason);
  }

  /** Streams the run as a response for `useChat`. A client that disconnects does not stop the run. */
  toUIMessageStreamResponse<Version extends UIMessageVersion = 6>(
    options: UIMessageResponseOptions<Version> = {},
  ): Response {
    const { keepAliveMs = 15_000, headers, errorText, ...encoding } = options;
    const view = { runId: this.runId, errorText };
    const encoder = createUIMessageEncoder<Version>(encoding);
    const chunks = this.#read<UIMessageChunkOf<Version>>(
      (event, emit) => encoder.feed(toPublicEvent(event, view), emit),
      (emit) => encoder.end({ reason: 'eof' }, emit),
    );
    const all = new Headers(headers);
    for (const [name, value] of Object.entries(uiMessageStreamHeaders)) all.set(name, value);
    for (const [name, value] of Object.entries(toRunHeaders(this))) all.set(name, value);
    return new Response(writeUIMessageSSE(chunks, { keepAliveMs }), { headers: all });
  }

  #read<Out>(feed: Feed<Out>, end?: (emit: Emit<Out>) => void): ReadableStream<Out> {
    return readRun(this.#run.follow(this.#after), () => this.#readMessageEvents(), feed, end);
  }

  /** Replaces the log once it is deleted. */
  async #readMessageEvents(): Promise<AgentEvent[]> {
    return unfold(await this.#getMessage());
  }

  async #waitForMessage(): Promise<CanonicalMessage> {
    const reader = this.#run.follow().getReader();
    while (!(await reader.read()).done);
    return this.#getMessage();
  }

  async #getMessage(): Promise<CanonicalMessage> {
    const { threadId, messageId } = this;
    const message = await this.#store.getMessage({ threadId, messageId });
    if (!message) throw new RunRefusedError({ code: 'not-found', what: 'run' });
    return message;
  }
}

function createTextFeed(): Feed<string> {
  const internal = new Set<string>();
  return (event, emit) => {
    if (event.type === 'text-start' && event.internal) internal.add(event.id);
    if (event.type === 'text-delta' && !internal.has(event.id)) emit(event.delta);
  };
}
