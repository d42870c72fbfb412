import type { AgentEvent } from '../event/event.ts';
import type { Json } from '../json/json.ts';
import type { MessageInput, ThreadInput } from './store.ts';
import type { CanonicalMessage, MessageContent } from '../event/message.ts';
import type { Outcome } from '../event/outcome.ts';
import type { Answer, Question } from '../event/part-body.ts';
import type { RunKey } from './run-log.ts';
import type { Scope } from './scope.ts';
import type { ToolAnswer } from '../event/tool-result.ts';
import type { Usage } from '../event/usage.ts';

/** Queued, running, or how it ended. Only a running run is live: a process is responsible for it. */
export type RunState = 'queued' | 'running' | 'complete' | 'paused' | 'aborted' | 'error';

export type RunRecord = {
  key: RunKey;
  /** Whose it is: who takes over a run reads and ends it in this scope. */
  scope: Scope;
  runId: string;
  threadId: string;
  messageId: string;
  agent: string;
  state: RunState;
  /** Of a running run: the process that is responsible for it. */
  process?: string;
  /** Of a running run: it is blocked on a decision inside its process. */
  waiting?: true;
  /** The paused run that this one continues. */
  resumes?: RunKey;
  /** Enough to start it in another process. */
  input?: Json;
  outcome?: Outcome;
  usage?: Usage[];
  /** The number of the last event of a closed log. */
  lastSeq?: number;
  createdBy?: string;
  createdAt: Date;
  startedAt?: Date;
  endedAt?: Date;
};

/** A running run and the right to write its log. */
export type Ownership = {
  run: RunRecord;
  epoch: number;
  nextSeq: number;
  /** Of the first run of a new thread: all that the thread has, the run's own message last. Nobody has to read it. */
  messages?: CanonicalMessage[];
};

/** Selects runs of a process; see `Registry.listOwned`. */
export type ListOwned = {
  /** Runs to leave out: those that the process executes. */
  except?: readonly RunKey[];
  /** Default: 50. */
  limit?: number;
};

export type TakeOverOptions = {
  /** Maximum number of runs to take. Default: 50. */
  limit?: number;
  /** Unique id of the call, which makes it repeatable; see `Registry`. */
  claim?: string;
};

/** One thing that a run waits for: what is guarded, so that it is answered once. */
export type DecisionRequest =
  | { id: string; kind: 'approval' | 'input'; question: Question; toolCallId?: string; expiresAt?: Date }
  | { id: string; kind: 'client-tool'; toolCallId: string; toolName: string; input: Json; expiresAt?: Date };

export type Decision = DecisionRequest & {
  run: RunKey;
  runId: string;
  threadId: string;
  messageId: string;
  state: 'open' | 'answered' | 'cancelled' | 'expired';
  answer?: Answer | ToolAnswer;
  answeredBy?: string;
  answeredAt?: Date;
};

/** What to do while a run of the thread is live: refuse, wait for its end, or stop it and then go on. */
export type BusyPolicy = 'reject' | 'queue' | 'replace';
/** What to do while the last answer before the new message waits for decisions: cancel them, or refuse. */
export type PendingPolicy = 'supersede' | 'reject';

export type StartRequest = {
  /** The client's id; the thread is created if there is none. */
  threadId: string;
  resourceId?: string;
  /** What the thread is given if there was none; one that was there keeps what it has. */
  thread?: Pick<ThreadInput, 'title' | 'metadata'>;
  runId: string;
  agent: string;
  /** The process that will run it. */
  process: string;
  /** The new user message; absent when a message is answered again. If its id is taken, it gets another (`clientId`). */
  message?: MessageInput;
  /** The message that the run follows (null: none); the thread's head if absent. With `message`, that one's parent. */
  parentId?: string | null;
  /** The id of the assistant message, which is saved with the run as a placeholder. */
  messageId: string;
  busy: BusyPolicy;
  pending: PendingPolicy;
  /** Same key and hash: attach to that run. Same key, other hash: refused. */
  idempotency?: { key: string; hash: string };
  input?: Json;
  createdBy?: string;
};

export type Started = { type: 'started' } & Ownership & {
    /** The decisions that the new message has cancelled. */
    superseded: Decision[];
  };
export type Attached = { type: 'attached'; run: RunRecord };
/** Waits for the thread; `behind` is the run before it, which was asked to stop if it is live and the policy `replace`. */
export type Queued = {
  type: 'queued';
  run: RunRecord;
  behind: RunRecord;
  superseded: Decision[];
  /**
   * The process of the live run is dead, so nobody is busy, whatever the policy. The caller owns that run now: it ends
   * it and then promotes its own.
   */
  takenOver?: Ownership;
};
export type Refused = { type: 'refused' } & (
  | { reason: 'busy'; live: RunRecord }
  | { reason: 'queue-full'; live: RunRecord }
  | { reason: 'pending'; decisions: Decision[] }
  | { reason: 'key-reused'; run: RunRecord | null }
  | { reason: 'run-exists'; run: RunRecord }
  | { reason: 'not-found'; what: 'thread' | 'parent' }
);
export type StartResult = Started | Attached | Queued | Refused;

/** The run that goes on when the last decision is answered. */
export type Continuation = { runId: string; process: string; input?: Json };

export type AnswerRequest = {
  answers: ReadonlyArray<Answer | ToolAnswer>;
  by?: string;
  continuation: Continuation;
};
export type AnswerVerdict = { id: string } & (
  | { result: 'accepted' }
  /** The same answer again: no harm done. */
  | { result: 'duplicate' }
  /** Somebody answered otherwise before. */
  | { result: 'conflict'; answeredBy?: string; answeredAt?: Date }
  | { result: 'cancelled' | 'expired' | 'unknown' }
);
export type AnswerResult = {
  verdicts: AnswerVerdict[];
  open: Decision[];
  /** Made by this call or by an earlier one. It is queued if another run of the thread is live or was there before. */
  continuation?: { run: RunRecord; created: boolean; ownership?: Ownership };
  /** The run is live and will find the answers itself. */
  live: boolean;
};

export type StopResult =
  /** Live: its owner has been asked to stop. */
  | 'requested'
  /** It was queued, and never started. */
  | 'aborted'
  /** It was paused, and will not go on: its open decisions are cancelled. */
  | 'cancelled'
  | 'ended';

export type FinishRequest = {
  /** The number that the next event would get: the owner has written exactly this many. */
  nextSeq: number;
  /** What is left to log: the closing events, `run-end` last. May be empty if they are in the log. */
  events: readonly AgentEvent[];
  /** The log is not this store's, and gets the events itself: here no number is checked, and none of them is kept. */
  detachedLog?: true;
  outcome: Outcome;
  usage?: Usage[];
  content: MessageContent;
  state?: Json;
  sourceState?: Json;
  /** Of a paused run: what it waits for. Those that exist already keep their answers. */
  decisions?: readonly DecisionRequest[];
  /** Made at once if all its decisions have been answered already, unless the run was asked to stop. */
  continuation?: Continuation;
};
export type FinishResult =
  | { result: 'ok'; continuation?: Ownership; message: CanonicalMessage }
  /** Another process owns the run: stop, write nothing. */
  | { result: 'fenced' };

/**
 * The state of all runs: which process owns each of them, which epoch may write its log, its open decisions and their answers.
 *
 * Every call that returns an `Ownership` can be repeated when its reply was lost. A repeated call by the same process returns the
 * ownership that the first one committed, as long as nothing has been logged and no other call has reassigned the run since. The key of a
 * `start` is its `runId` and `messageId`, that of an `answer` and a `finish` the `runId` and `process` of the continuation;
 * `promote`, `fence` and `takeOver` take a `claim`, a unique id of the call. Without a claim they cannot be repeated.
 */
export interface Registry {
  /**
   * Repeated with the same `runId` and `messageId`: the result of the first call (without `messages`, and with `superseded` empty), or
   * `attached` if the run has moved on.
   */
  start(scope: Scope, request: StartRequest): Promise<StartResult>;
  /**
   * Null: no such run in this scope. Repeated with the same `continuation.runId` and `continuation.process`: the continuation of the
   * first call with its ownership; the verdicts are `duplicate`.
   */
  answer(scope: Scope, run: RunKey, request: AnswerRequest): Promise<AnswerResult | null>;
  /** Null: no such run in this scope. */
  stop(scope: Scope, run: RunKey, reason?: string): Promise<StopResult | null>;

  /** Guards what a run is about to ask, before the question is delivered. Repeating it is harmless. */
  ask(run: RunKey, epoch: number, decisions: readonly DecisionRequest[]): Promise<'ok' | 'fenced'>;
  /** Says whether a live run is blocked on a decision inside its process. */
  wait(run: RunKey, epoch: number, waiting: boolean): Promise<'ok' | 'fenced'>;
  /**
   * Ends the run, its log and its message in one step. The content is the truth about the message: it may correct what
   * was there. What JSON cannot say is converted as `toJson` does. What the run asked and waits for no more is cancelled;
   * if it was asked to stop, so is what it waits for, and it does not go on. Repeating the call (a lost acknowledgement)
   * gives the same result.
   */
  finish(run: RunKey, epoch: number, end: FinishRequest): Promise<FinishResult>;
  /**
   * Starts the thread's first queued run if none is live; but none before the continuation of an answer that it follows.
   * What the answer before it still waits for is superseded.
   */
  promote(scope: Scope, threadId: string, process: string, claim?: string): Promise<Ownership | null>;
  /** Takes a live run that was asked to stop at least `silentMs` ago and has not ended. */
  fence(run: RunKey, process: string, silentMs: number, claim?: string): Promise<Ownership | null>;

  /** Renews the process's lease; its runs are its own as long as it lasts. */
  heartbeat(process: string, info?: Json): Promise<void>;
  /** Ends the lease at once. */
  retire(process: string): Promise<void>;
  /** Takes the live runs of processes whose lease is over. */
  takeOver(process: string, options?: TakeOverOptions): Promise<Ownership[]>;
  /**
   * Live runs of a process, oldest first. A process compares them with the runs that it executes, and thereby finds those that
   * a lost reply assigned to it.
   */
  listOwned(process: string, query?: ListOwned): Promise<Ownership[]>;
  /** Threads that have a queued run and no live one. */
  listStranded(limit?: number): Promise<Array<{ scope: Scope; threadId: string }>>;
  /**
   * Expires open decisions whose time is over. A message that waits for one is aborted, and whatever else it waits for
   * is cancelled. Returns how many have expired.
   */
  expire(limit?: number): Promise<number>;
  /** Runs that ended at least `minAgeMs` ago, by the store's clock, and still have a log. */
  listPrunable(minAgeMs: number, limit?: number): Promise<RunKey[]>;

  getRun(scope: Scope, run: RunKey): Promise<RunRecord | null>;
  /** By the client's id; the newest of that name in the scope, if no thread is named. */
  findRun(scope: Scope, query: { runId: string; threadId?: string }): Promise<RunRecord | null>;
  listRuns(scope: Scope, query: { threadId: string }): Promise<RunRecord[]>;
  liveRun(scope: Scope, query: { threadId: string }): Promise<RunRecord | null>;
  listDecisions(
    scope: Scope,
    query?: { threadId?: string; run?: RunKey; state?: Decision['state'] },
  ): Promise<Decision[]>;
}
