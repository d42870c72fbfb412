import type { Hints } from '../hints.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { CanonicalMessage } from '../../event/message.ts';
import type { Outcome } from '../../event/outcome.ts';
import type { Answer } from '../../event/part-body.ts';
import type { DecisionRequest, RunState } from '../registry.ts';
import type { RunKey } from '../run-log.ts';
import type { Scope } from '../scope.ts';
import type { ToolAnswer } from '../../event/tool-result.ts';
import type { Usage } from '../../event/usage.ts';

/** `message` is replaced, never changed in place, because rows may share it. */
export type MessageRow = {
  message: CanonicalMessage;
  thread: ThreadRow;
  /** Version of the thread at its last change. */
  version: number;
  deleted: boolean;
  /** Run that writes the message, or wrote it last. */
  run?: RunRow;
};

export type ThreadRow = {
  readonly scope: Scope;
  readonly id: string;
  resourceId?: string;
  title?: string;
  metadata?: JsonObject;
  headId?: string;
  hidden?: boolean;
  readonly createdAt: number;
  updatedAt: number;
  version: number;
  deleted: boolean;
  /** In order of creation, including deleted ones. */
  readonly messages: Map<string, MessageRow>;
  /** By the client's id, in order of creation. */
  readonly runs: Map<string, RunRow>;
  live?: RunRow;
};

/** Events `(lastSeq - n, lastSeq]` as JSON text, so that readers and writers share no objects. */
export type LogRow = { lastSeq: number; n: number; epoch: number; body: string };

/** Present only while a process is responsible for the run. */
export type LiveRow = {
  process: string;
  /** Claim of the call that assigned the run to its process; absent if the run went live in the call that created it. */
  claim?: string;
  waiting: boolean;
  attempts: number;
  /** Set between `release` and the next takeover. */
  releasedAt?: number;
  stopRequestedAt?: number;
  stopReason?: string;
};

export type RunRow = {
  readonly key: RunKey;
  /** Order of creation across all threads. */
  readonly serial: number;
  readonly runId: string;
  readonly thread: ThreadRow;
  readonly message: MessageRow;
  readonly agent: string;
  readonly resumes?: RunRow;
  continuation?: RunRow;
  readonly input?: Json;
  readonly createdBy?: string;
  readonly branchKey?: string;
  readonly createdAt: number;
  state: RunState;
  live?: LiveRow;
  /** Incremented with every new owner; only the holder of the current epoch may write. */
  epoch: number;
  nextSeq: number;
  readonly log: LogRow[];
  logDropped: boolean;
  readonly decisions: Map<string, DecisionRow>;
  outcome?: Outcome;
  usage?: Usage[];
  /** Set when a queued run starts. */
  wasQueued?: true;
  startedAt?: number;
  endedAt?: number;
};

export type DecisionRow = {
  readonly run: RunRow;
  readonly request: DecisionRequest;
  state: 'open' | 'answered' | 'cancelled' | 'expired';
  answer?: Answer | ToolAnswer;
  answeredBy?: string;
  answeredAt?: number;
};

/** A use of an idempotency key, by a run or (null) by a keyed save. */
export type RequestRow = { hash: string; run: RunRow | null; messages: MessageRow[]; at: number };

export type BlobRow = {
  readonly sha256: string;
  readonly size: number;
  mediaType?: string;
  data?: Uint8Array<ArrayBuffer>;
  url?: string;
  touchedAt: number;
  readonly refs: Set<MessageRow>;
};

/** State shared by the stores of all scopes. */
export type Tables = {
  readonly now: () => number;
  readonly generateId: () => string;
  readonly leaseMs: number;
  readonly resumableLeaseMs: number;
  readonly hints: Hints;
  readonly threads: Map<Scope, Map<string, ThreadRow>>;
  readonly runs: Map<RunKey, RunRow>;
  runSerial: number;
  /** Indexes for the sweeper. */
  readonly live: Set<RunRow>;
  readonly queued: Set<RunRow>;
  readonly ended: Set<RunRow>;
  readonly open: Set<DecisionRow>;
  /** Expiry of the lease, by process. */
  readonly leases: Map<string, number>;
  readonly requests: Map<Scope, Map<string, RequestRow>>;
  readonly blobs: Map<Scope, Map<string, BlobRow>>;
};

/** Returns the rows of a scope, and creates them on first use. */
export function partition<Row>(table: Map<Scope, Map<string, Row>>, scope: Scope): Map<string, Row> {
  let rows = table.get(scope);
  if (!rows) table.set(scope, (rows = new Map()));
  return rows;
}
