import type { AgentSource } from '../event/agent-source.ts';
import type { Followed } from './follow-run.ts';
import type { Json } from '../json/json.ts';
import type { MessageInput, Store } from '../store/store.ts';
import type { Answer } from '../event/part-body.ts';
import type { AnswerVerdict, BusyPolicy, Decision, PendingPolicy, RunRecord, StopResult } from '../store/registry.ts';
import type { LogPosition } from '../store/run-log.ts';
import type { ToolDescription } from '../event/run-input.ts';
import type { ToolAnswer } from '../event/tool-result.ts';

/** A user's message on its way in. Without an id it gets one. */
export type NewMessage = { id?: string; createdAt?: Date; content: MessageInput['content'] };

/** What a run is asked for. Without a `message`, the message `parentId` is answered again: a sibling of its last answer. */
export type RunRequest = {
  /** A thread that does not exist is created; without an id it gets one. */
  threadId?: string;
  message?: NewMessage;
  /** The message that the new one follows (null: none); the thread's head if absent. */
  parentId?: string | null;
  /** The client's name for the run. */
  runId?: string;
  resourceId?: string;
  /** The same key again is the same run: nothing starts, and its events are given. */
  idempotencyKey?: string;
  /** Default: `reject`. */
  busy?: BusyPolicy;
  /** Default: `supersede`. */
  pending?: PendingPolicy;
  /** Tools that the client runs. */
  tools?: ToolDescription[];
  context?: Array<{ description: string; value: string }>;
  state?: Json;
  /** What the client wants the runtime to have, verbatim. */
  forwardedProps?: Json;
  /** Who asks, for the record. */
  by?: string;
};

/** A run that is kept. It goes on whoever reads it, and any process can follow it. */
export interface DurableRun {
  readonly runId: string;
  readonly threadId: string;
  readonly messageId: string;
  /** From any position on, to the end, for any number of readers: what is durable, with its place in the log. */
  follow(after?: LogPosition): ReadableStream<Followed>;
  /** How the run stands now. */
  record(): Promise<RunRecord>;
  stop(reason?: string): Promise<StopResult>;
}

export type Answered = {
  verdicts: AnswerVerdict[];
  /** What is still to be answered. */
  open: Decision[];
  /** The run that goes on: the continuation, or the run itself where it waits inside its process. */
  run?: DurableRun;
};

export type AnswerOptions = {
  /**
   * How long a run that is answered before it has paused may take to pause, so that the one that goes on is given. After that it
   * is given itself. 5 seconds unless given.
   */
  patienceMs?: number;
};

/** An agent whose runs are kept, bound to one scope: what a door to a front end needs to know of it. */
export interface DurableAgent {
  readonly name: string;
  readonly source: AgentSource;
  readonly store: Store;
  /** The same agent for another principal. */
  forScope(scope: string): DurableAgent;
  /** Starts a run, or finds the one that the key or the id names. Rejects with a `RunRefusedError`. */
  start(request: RunRequest): Promise<DurableRun>;
  /** Null: there is no such run in this scope. Without a thread, the newest of that name. */
  find(query: { runId: string; threadId?: string }): Promise<DurableRun | null>;
  /** The newest run of a thread that is queued, or else the live one, or else the one that was last. Null: it has none. */
  latest(query: { threadId: string }): Promise<DurableRun | null>;
  /** Rejects with a `RunRefusedError` where there is no such run. */
  answer(
    query: { runId: string; threadId?: string },
    answers: ReadonlyArray<Answer | ToolAnswer>,
    by?: string,
    options?: AnswerOptions,
  ): Promise<Answered>;
}
