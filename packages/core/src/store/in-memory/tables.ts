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

/** What the message is now is replaced, never changed: rows may share it. */
export type MessageRow = {
  message: CanonicalMessage;
  thread: ThreadRow;
  /** The version of the thread that changed it last. */
  version: number;
  deleted: boolean;
  /** The run that writes it, or wrote it last. */
  run?: RunRow;
};

export type ThreadRow = {
  readonly scope: Scope;
  readonly id: string;
  resourceId?: string;
  title?: string;
  metadata?: JsonObject;
  headId?: string;
  readonly createdAt: number;
  updatedAt: number;
  version: number;
  deleted: boolean;
  /** In the order in which they were made, the deleted ones too. */
  readonly messages: Map<string, MessageRow>;
  /** By the client's id, in the order in which they were made. */
  readonly runs: Map<string, RunRow>;
  live?: RunRow;
};

/** The events `(lastSeq - n, lastSeq]`, as a JSON text: what is read is never what was written. */
export type LogRow = { lastSeq: number; n: number; epoch: number; body: string };

/** There only while a process is responsible. */
export type LiveRow = {
  process: string;
  /** The call that gave the run to its process; absent if the run went live in the call that created it. */
  claim?: string;
  waiting: boolean;
  stopRequestedAt?: number;
  stopReason?: string;
};

export type RunRow = {
  readonly key: RunKey;
  /** The order in which runs were made, in all threads. */
  readonly serial: number;
  readonly runId: string;
  readonly thread: ThreadRow;
  readonly message: MessageRow;
  readonly agent: string;
  readonly resumes?: RunRow;
  continuation?: RunRow;
  readonly input?: Json;
  readonly createdBy?: string;
  readonly createdAt: number;
  state: RunState;
  live?: LiveRow;
  /** Who may write: the number grows with every owner. */
  epoch: number;
  nextSeq: number;
  readonly log: LogRow[];
  logDropped: boolean;
  readonly decisions: Map<string, DecisionRow>;
  outcome?: Outcome;
  usage?: Usage[];
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

/** Everything that the stores of all scopes share. */
export type Tables = {
  readonly now: () => number;
  readonly generateId: () => string;
  readonly leaseMs: number;
  readonly hints: Hints;
  readonly threads: Map<Scope, Map<string, ThreadRow>>;
  readonly runs: Map<RunKey, RunRow>;
  runSerial: number;
  /** Indexes, for what a sweeper looks for. */
  readonly live: Set<RunRow>;
  readonly queued: Set<RunRow>;
  readonly ended: Set<RunRow>;
  readonly open: Set<DecisionRow>;
  /** By process: when its lease is over. */
  readonly leases: Map<string, number>;
  readonly requests: Map<Scope, Map<string, RequestRow>>;
  readonly blobs: Map<Scope, Map<string, BlobRow>>;
};

/** The scope's own part of a table, made on first use. */
export function partition<Row>(table: Map<Scope, Map<string, Row>>, scope: Scope): Map<string, Row> {
  let rows = table.get(scope);
  if (!rows) table.set(scope, (rows = new Map()));
  return rows;
}
