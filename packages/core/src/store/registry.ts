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

/** Queued, running, or the outcome. Only a running run is live: a process is responsible for it. */
export type RunState = 'queued' | 'running' | 'complete' | 'paused' | 'aborted' | 'error';

/** State of a run, as the registry stores it. */
export type RunRecord = {
  key: RunKey;
  /** Scope of the run. A process that takes the run over reads and ends it in this scope. */
  scope: Scope;
  runId: string;
  threadId: string;
  messageId: string;
  agent: string;
  state: RunState;
  /** Process that is responsible for a running run. */
  process?: string;
  /** Set while a running run is blocked on a decision inside its process. */
  waiting?: true;
  /** Set if the run could not start when it was created, because another run of its thread was live or queued. */
  wasQueued?: true;
  /** Number of executions of a live run, if more than one: each process that died with the run adds one. */
  attempts?: number;
  /** Paused run that this one continues. */
  resumes?: RunKey;
  /** Sufficient to start the run in another process. */
  input?: Json;
  outcome?: Outcome;
  usage?: Usage[];
  /** Number of the last event, once the log is closed. */
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
  /**
   * The newest messages of the run's branch, its own last: up to `StartRequest.historyLimit`, or all of a new thread. Saves the caller a
   * read. Absent if the store did not read them with the start.
   */
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
  /** Agents that the process knows. Runs of other agents are left to other processes for `graceMs`. Default: all agents. */
  agents?: readonly string[];
  /** Time since the end of a lease, or since `release`, after which runs of any agent are taken. Default: one minute. */
  graceMs?: number;
  /** Only runs that were released, or whose process has released its lease: no runs whose lease has expired. Default: false. */
  onlyReleased?: boolean;
};

/** Selects runs; see `Registry.listRuns`. */
export type ListRuns = { threadId: string; messageId?: string } | { threadId?: string; messageId: string };

/** Deleted threads: how many, and their runs, whose logs a detached log deletes. */
export type DeletedThreads = { count: number; runs: RunKey[] };

/** State of a run, or `waiting` while one of its decisions is open. */
export type LatestRunState = RunState | 'waiting';

/** Selects the last runs of messages; see `Registry.listLatestRuns`. */
export type ListLatestRuns = {
  threadId?: string;
  agent?: string;
  states?: readonly LatestRunState[];
  /** Only runs that changed at this time or later. */
  since?: Date;
  /** Default: 50. */
  limit?: number;
  /** `cursor` of the previous page. */
  cursor?: string;
};

/** Last run of a message. A paused run without open decisions was cancelled, or waits for a message. */
export type LatestRun = { run: RunRecord; state: LatestRunState; changedAt: Date };

/** Page of runs, with the number of runs on all pages. The last page has no `cursor`. */
export type LatestRunPage = { runs: LatestRun[]; total: number; cursor?: string };

/** A decision that a run waits for. The store accepts one answer to it. */
export type DecisionRequest =
  | { id: string; kind: 'approval' | 'input'; question: Question; toolCallId?: string; expiresAt?: Date }
  | { id: string; kind: 'client-tool'; toolCallId: string; toolName: string; input: Json; expiresAt?: Date };

/** A stored decision of a run, and its answer. */
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

/** Policy while a run of the thread is live: refuse the new run, queue it, or stop the live one and queue it. */
export type BusyPolicy = 'reject' | 'queue' | 'replace';
/** Policy while the last answer before the new message waits for decisions: cancel them, or refuse the new run. */
export type PendingPolicy = 'supersede' | 'reject';

/** Request to start a run; see `Registry.start`. */
export type StartRequest = {
  /** Chosen by the client. The thread is created if it does not exist. */
  threadId: string;
  resourceId?: string;
  /** Fields of the thread if this call creates it. An existing thread keeps its fields. */
  thread?: Pick<ThreadInput, 'title' | 'metadata' | 'hidden'>;
  runId: string;
  agent: string;
  /** Process that will execute the run. */
  process: string;
  /** New user message. Absent to answer a message again. If its id is already used, it gets a new one (see `clientId`). */
  message?: MessageInput;
  /** Message that the run follows (null: none), or that `message` follows if given. Default: the thread's head. */
  parentId?: string | null;
  /** Id of the assistant message, which is saved with the run as a placeholder. */
  messageId: string;
  busy: BusyPolicy;
  /** Agents whose runs the process can continue. A run of them counts as live after the death of its process. Default: none. */
  resumable?: readonly string[];
  pending: PendingPolicy;
  /** The same key and hash attach to that run. The same key with another hash is refused. */
  idempotency?: { key: string; hash: string };
  input?: Json;
  createdBy?: string;
  /** Finds the run again with `listBranchRuns`, for clients that send whole histories without ids. */
  branchKey?: string;
  /** Maximum number of messages to return with the run, so that the caller does not have to read them. Default: none. */
  historyLimit?: number;
};

export type Started = { type: 'started' } & Ownership & {
    /** Decisions that the new message has cancelled. */
    superseded: Decision[];
    /** Whether this call created the thread. */
    isNewThread?: true;
  };
export type Attached = { type: 'attached'; run: RunRecord };
/** The run waits for the thread. `behind` is the run before it; with the policy `replace`, a live one was asked to stop. */
export type Queued = {
  type: 'queued';
  run: RunRecord;
  behind: RunRecord;
  superseded: Decision[];
  /**
   * Set if the process of the live run is dead. The policy `reject` refuses the new run only if the live run is `resumable`. The
   * caller owns the live run now: it continues or ends that run, and then promotes its own.
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

/** Run that continues a paused one after its last decision is answered. */
export type Continuation = { runId: string; process: string; input?: Json };

/** Answers to a run, and the run that continues it once all decisions are answered. */
export type AnswerRequest = {
  answers: ReadonlyArray<Answer | ToolAnswer>;
  by?: string;
  continuation: Continuation;
};
export type AnswerVerdict = { id: string } & (
  | { result: 'accepted' }
  /** The same answer was given before. */
  | { result: 'duplicate' }
  /** A different answer was given before. */
  | { result: 'conflict'; answeredBy?: string; answeredAt?: Date }
  | { result: 'cancelled' | 'expired' | 'unknown' }
);
export type AnswerResult = {
  verdicts: AnswerVerdict[];
  open: Decision[];
  /** Created by this call or an earlier one. Queued if another run of the thread is live or was queued before it. */
  continuation?: { run: RunRecord; created: boolean; ownership?: Ownership };
  /** The run is live; its owner reads the answers itself. */
  live: boolean;
};

export type StopResult =
  /** The run is live, and its owner has been asked to stop. */
  | 'requested'
  /** The run was queued and will not start. */
  | 'aborted'
  /** The run was paused and will not continue; its open decisions are cancelled. */
  | 'cancelled'
  | 'ended';

/** End of a run; see `Registry.finish`. */
export type FinishRequest = {
  /** Number that the next event would get. It has to match the log, so that only its writer can end the run. */
  nextSeq: number;
  /** Events that are not in the log yet, `run-end` last. May be empty. */
  events: readonly AgentEvent[];
  /** The log is not in this store and receives the events itself: the registry neither checks the number nor stores events. */
  detachedLog?: true;
  outcome: Outcome;
  usage?: Usage[];
  content: MessageContent;
  state?: Json;
  sourceState?: Json;
  /** Decisions that a paused run waits for. Existing ones keep their answers. */
  decisions?: readonly DecisionRequest[];
  /** Created immediately if all decisions are already answered, unless a stop was requested. */
  continuation?: Continuation;
};
export type FinishResult =
  | { result: 'ok'; continuation?: Ownership; message: CanonicalMessage }
  /** Another process owns the run. The caller must stop and write nothing. */
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
   * Repeated with the same `runId` and `messageId`: returns the result of the first call (without `messages` and `isNewThread`, and
   * with `superseded` empty), or `attached` if the run has progressed since.
   */
  start(scope: Scope, request: StartRequest): Promise<StartResult>;
  /**
   * Returns null if the scope has no such run. Repeated with the same `continuation.runId` and `continuation.process`: returns the
   * continuation of the first call with its ownership; the verdicts are `duplicate`.
   */
  answer(scope: Scope, run: RunKey, request: AnswerRequest): Promise<AnswerResult | null>;
  /** Returns null if the scope has no such run. */
  stop(scope: Scope, run: RunKey, reason?: string): Promise<StopResult | null>;

  /** Stores decisions before their questions are delivered, so that every delivered question can be answered. Can be repeated. */
  openDecisions(run: RunKey, epoch: number, decisions: readonly DecisionRequest[]): Promise<'ok' | 'fenced'>;
  /** Records whether a live run is blocked on a decision inside its process. */
  setWaiting(run: RunKey, epoch: number, waiting: boolean): Promise<'ok' | 'fenced'>;
  /**
   * Ends the run, its log and its message in one step. The given content replaces the stored one. Values that JSON cannot represent
   * are converted as `toJson` does. Decisions that the run does not wait for are cancelled, or expire if it is lost (`lost`,
   * `agent-gone`, `too-many-attempts`); if a stop was requested, those it waits for are cancelled, too, and it is not continued.
   * Repeating the call after a lost reply returns the same result.
   */
  finish(run: RunKey, epoch: number, end: FinishRequest): Promise<FinishResult>;
  /**
   * Starts the thread's first queued run if none is live. A run does not start before the continuation of an answer that it follows.
   * Open decisions of the answer before it are superseded.
   */
  promote(scope: Scope, threadId: string, process: string, claim?: string): Promise<Ownership | null>;
  /** Takes over a live run that was asked to stop at least `silentMs` ago and has not ended. */
  fence(run: RunKey, process: string, silentMs: number, claim?: string): Promise<Ownership | null>;

  /** Renews the lease of the process, which owns its runs until the lease expires. Default of `leaseMs`: that of the registry. */
  heartbeat(process: string, info?: Json, leaseMs?: number): Promise<void>;
  /** Ends the lease immediately. */
  retire(process: string): Promise<void>;
  /** Duration of a lease, in milliseconds. */
  readonly leaseMs: number;
  /** Duration of the lease of a process whose agents can all continue a run. Default: `leaseMs`. */
  readonly resumableLeaseMs?: number;
  /** Whether another process has a lease. */
  hasPeers(process: string): Promise<boolean>;
  /** Whether the registry outlives its processes, so that a process that starts later can continue released runs. Default: false. */
  readonly isDurable?: boolean;
  /** Whether only one process at a time can use the registry, so that all other processes are dead when it starts. Default: false. */
  readonly isExclusive?: boolean;
  /** Gives up a live run without ending it. The next `takeOver` of any process takes it, without counting an attempt. */
  release(run: RunKey, epoch: number): Promise<'ok' | 'fenced'>;
  /** Takes over released runs, and the live runs of processes whose lease has expired, which adds one to their attempts. */
  takeOver(process: string, options?: TakeOverOptions): Promise<Ownership[]>;
  /**
   * Lists the live runs of a process, oldest first. A process compares them with the runs that it executes, and thereby finds those
   * that a lost reply assigned to it.
   */
  listOwned(process: string, query?: ListOwned): Promise<Ownership[]>;
  /** Lists threads that have a queued run and no live one. */
  listStranded(limit?: number): Promise<Array<{ scope: Scope; threadId: string }>>;
  /**
   * Expires overdue decisions. A message that waits for one is aborted, and its other decisions are cancelled. Returns the number
   * of expired decisions.
   */
  expire(limit?: number): Promise<number>;
  /**
   * Deletes hidden threads without a live or queued run that last changed at least `minAgeMs` ago, by the store's clock. A thread whose
   * next run starts meanwhile is not deleted.
   */
  deleteHidden(minAgeMs: number, limit?: number): Promise<DeletedThreads>;
  /** Lists runs that ended at least `minAgeMs` ago, by the store's clock, and still have a log. */
  listPrunable(minAgeMs: number, limit?: number): Promise<RunKey[]>;

  getRun(scope: Scope, run: RunKey): Promise<RunRecord | null>;
  /** Finds a run by the client's id. Without a thread, finds the newest with that id in the scope. */
  findRun(scope: Scope, query: { runId: string; threadId?: string }): Promise<RunRecord | null>;
  /** Lists the runs of a thread or a message in the order of creation. */
  listRuns(scope: Scope, query: ListRuns): Promise<RunRecord[]>;
  /**
   * Lists the last run of each message, the most recently changed first. A run changes when it is created, starts and ends. Reads all
   * runs that match, because it counts them.
   */
  listLatestRuns(scope: Scope, query?: ListLatestRuns): Promise<LatestRunPage>;
  /** Lists the runs of an agent that were started with a branch key, newest first. Default limit: 20. */
  listBranchRuns(scope: Scope, query: { agent: string; branchKey: string; limit?: number }): Promise<RunRecord[]>;
  liveRun(scope: Scope, query: { threadId: string }): Promise<RunRecord | null>;
  listDecisions(
    scope: Scope,
    query?: { threadId?: string; run?: RunKey; state?: Decision['state'] },
  ): Promise<Decision[]>;
}
