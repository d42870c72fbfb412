import type { AgentSource } from '../event/agent-source.ts';
import type { Followed } from './follow-run.ts';
import type { Json } from '../json/json.ts';
import type { MessageInput, Store } from '../store/store.ts';
import type { Answer } from '../event/part-body.ts';
import type { AnswerVerdict, BusyPolicy, Decision, PendingPolicy, RunRecord, StopResult } from '../store/registry.ts';
import type { LogPosition } from '../store/run-log.ts';
import type { ToolDescription } from '../event/run-input.ts';
import type { ToolAnswer } from '../event/tool-result.ts';

/** A new message of the user. The id is generated if absent. */
export type NewMessage = { id?: string; createdAt?: Date; content: MessageInput['content'] };

/** Request for a run. Without a `message`, the message `parentId` is answered again, as a sibling of its last answer. */
export type RunRequest = {
  /** The thread is created if it does not exist. The id is generated if absent. */
  threadId?: string;
  message?: NewMessage;
  /** Message that the new one follows (null: none). Default: the thread's head. */
  parentId?: string | null;
  /** Id of the run, chosen by the client. */
  runId?: string;
  resourceId?: string;
  /** Whether a thread that this call creates is hidden; see `ThreadInput`. */
  hidden?: true;
  /** Finds the run again; see `Registry.listBranchRuns`. */
  branchKey?: string;
  /** A repeated key returns the existing run and its events; nothing starts. */
  idempotencyKey?: string;
  /** Default: `reject`. */
  busy?: BusyPolicy;
  /** Default: `supersede`. */
  pending?: PendingPolicy;
  /** Tools that the client executes. */
  tools?: ToolDescription[];
  context?: Array<{ description: string; value: string }>;
  state?: Json;
  /** Data from the client that is passed to the runtime verbatim. */
  forwardedProps?: Json;
  /** Author of the request, for the record. */
  by?: string;
};

/** A run whose events are stored before delivery. It does not depend on its readers, and any process can follow it. */
export interface DurableRun {
  readonly runId: string;
  readonly threadId: string;
  readonly messageId: string;
  /** Streams the durable events after a position to the end of the run, with positions. Any number of readers can follow. */
  follow(after?: LogPosition): ReadableStream<Followed>;
  /** Reads the current state of the run. */
  record(): Promise<RunRecord>;
  stop(reason?: string): Promise<StopResult>;
}

export type Answered = {
  verdicts: AnswerVerdict[];
  /** Decisions that are still open. */
  open: Decision[];
  /** Run that continues: the continuation, or the run itself if it waits inside its process. */
  run?: DurableRun;
};

export type AnswerOptions = {
  /**
   * Maximum wait for a run that is answered before it has paused, so that its continuation can be returned. After that, the run
   * itself is returned. Default: 5 seconds.
   */
  timeoutMs?: number;
};

/** An agent whose runs are durable, bound to one scope. Handlers for front ends depend on this interface only. */
export interface DurableAgent {
  readonly name: string;
  readonly source: AgentSource;
  readonly store: Store;
  /** The same agent for another principal. */
  forScope(scope: string): DurableAgent;
  /** Starts a run, or finds the one with the given key or id. Rejects with a `RunRefusedError`. */
  start(request: RunRequest): Promise<DurableRun>;
  /** Returns null if the scope has no such run. Without a thread, finds the newest with that id. */
  find(query: { runId: string; threadId?: string }): Promise<DurableRun | null>;
  /** Returns the newest queued run of a thread, or else the live one, or else the last one. Null if there is none. */
  latest(query: { threadId: string }): Promise<DurableRun | null>;
  /** Rejects with a `RunRefusedError` if there is no such run. */
  answer(
    query: { runId: string; threadId?: string },
    answers: ReadonlyArray<Answer | ToolAnswer>,
    by?: string,
    options?: AnswerOptions,
  ): Promise<Answered>;
}

/** Whether a value is an agent with durable runs, and not a source. */
export function isDurableAgent(served: AgentSource | DurableAgent): served is DurableAgent {
  return 'start' in served && 'store' in served;
}
