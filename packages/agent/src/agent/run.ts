import { createUIMessageEncoder, uiMessageStreamHeaders, writeUIMessageSSE } from '@intertie/ai-sdk';
import type { UIMessageChunkOf, UIMessageEncoderOptions, UIMessageVersion } from '@intertie/ai-sdk';
import {
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
import { iterable, type IterableStream } from './iterable-stream.ts';

export interface UIMessageResponseOptions<
  Version extends UIMessageVersion = UIMessageVersion,
> extends UIMessageEncoderOptions<Version> {
  /** After how long a silence a comment is sent, so that proxies keep the connection. 15 seconds unless given. */
  keepAliveMs?: number;
  /** Text of an error for the client. Default: a generic sentence with the run id; see `createChatHandler`. */
  errorText?: (error: Fault) => string;
  headers?: HeadersInit;
}

/** A run that has been started, or found. Every reader gets all of it, also after its end, and reading is not running. */
export class Run implements DurableRun {
  readonly runId: string;
  readonly threadId: string;
  readonly messageId: string;
  #run: DurableRun;
  #store: Store;
  #after: LogPosition | undefined;
  #message: Promise<CanonicalMessage> | undefined;

  /** `after` is where `events` begins. */
  constructor(run: DurableRun, store: Store, after?: LogPosition) {
    this.runId = run.runId;
    this.threadId = run.threadId;
    this.messageId = run.messageId;
    this.#run = run;
    this.#store = store;
    this.#after = after;
  }

  /** The events, from the first one on, as they become durable. Each call of it is a reader of its own. */
  get events(): IterableStream<AgentEvent> {
    return iterable(this.#read<AgentEvent>((event, emit) => emit(event)));
  }

  /** What the agent says to the user: text, without what agents say to each other. */
  get textStream(): IterableStream<string> {
    return iterable(this.#read(saidText()));
  }

  /** The message, when the run has ended: complete, paused, aborted or failed, as its status says. */
  get message(): Promise<CanonicalMessage> {
    this.#message ??= this.#ended();
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

  /** The run for `useChat`. Who leaves does not stop it. */
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
    return readRun(this.#run.follow(this.#after), () => this.#fromMessage(), feed, end);
  }

  /** Where the log is not kept any more, the message says what there was. */
  async #fromMessage(): Promise<AgentEvent[]> {
    return unfold(await this.#stored());
  }

  async #ended(): Promise<CanonicalMessage> {
    const reader = this.#run.follow().getReader();
    while (!(await reader.read()).done);
    return this.#stored();
  }

  async #stored(): Promise<CanonicalMessage> {
    const { threadId, messageId } = this;
    const message = await this.#store.getMessage({ threadId, messageId });
    if (!message) throw new RunRefusedError({ code: 'not-found', what: 'run' });
    return message;
  }
}

function saidText(): Feed<string> {
  const internal = new Set<string>();
  return (event, emit) => {
    if (event.type === 'text-start' && event.internal) internal.add(event.id);
    if (event.type === 'text-delta' && !internal.has(event.id)) emit(event.delta);
  };
}
