import type { AgentEvent } from '../event/event.ts';
import { createEventBuffer } from './event-buffer.ts';
import type { FinishRequest, FinishResult } from '../store/registry.ts';
import type { Appended, LogBatch, RunKey } from '../store/run-log.ts';
import { RunLostError, type RunLostReason } from '../store/run-lost-error.ts';

/** Durable events and their approximate size. Readers share them, so they must not be changed. */
export type CommittedBatch = { epoch: number; seq: number; events: readonly AgentEvent[]; bytes: number };

export type RunWriterOptions = {
  /** Called once when an append reports that a stop was requested. Events written afterwards are still stored. */
  onStop?: () => void;
  /** Called once when this process no longer owns the run. */
  onLost?: (reason: RunLostReason) => void;
};

/** Events at the end of a run that are not in the log yet, and the number of the first one. */
export type UnwrittenEnd = Pick<FinishRequest, 'nextSeq' | 'events'>;

/** Writes the events of one run to the log. */
export interface RunWriter {
  /** Whether an append has reported that a stop was requested. */
  readonly stopRequested: boolean;
  /** Why the run can no longer be written, if so. */
  readonly lost: RunLostReason | undefined;
  /** Resolves when the buffer has room. Await it before reading the next event of the source. */
  waitForRoom(): Promise<void>;
  /** Buffers the event for the next flush. It is delivered once it is durable. */
  write(event: AgentEvent): void;
  /**
   * Flushes without waiting for the tick. Resolves when everything written so far is durable, with whether a stop was requested.
   * Rejects with a `RunLostError` if the events cannot become durable.
   */
  barrier(): Promise<'durable' | 'stop'>;
  /**
   * Ends the run: `commit` calls the registry's `finish` with the unwritten events, and is retried until the store has answered.
   * Then local readers receive the end, and nothing more can be written.
   */
  finish(commit: (rest: UnwrittenEnd) => Promise<FinishResult>): Promise<FinishResult>;
  /** Stops writing and leaves the run as it is. Events that are not durable are dropped. */
  close(): void;
}

/** Services of the flusher for its writers. */
export type WriterHost = {
  readonly maxBatchBytes: number;
  /** Whether a run that has buffered that many bytes may buffer more. */
  hasRoom(bytes: number): boolean;
  /** Adds to the total of buffered bytes; negative to subtract. */
  addBytes(bytes: number): void;
  /** Requests a flush. An urgent one does not wait for the tick. */
  requestFlush(urgent: boolean): void;
  deliver(batch: CommittedBatch): void;
  /** Retries until the call is answered, as long as the flusher is open. */
  retry<Result>(call: () => Promise<Result>): Promise<Result>;
  /** Called when the writer writes nothing more. */
  onClosed(): void;
};

/** Interface of a writer for its flusher. */
export type HostedWriter = RunWriter & {
  /** Whether a flush would find something to write. */
  isDirty(): boolean;
  /** Whether a barrier waits. */
  isUrgent(): boolean;
  /** Whether the log is still empty and nothing has been delivered. */
  isUnwritten(): boolean;
  /** Returns the next batch, the same one until a verdict is applied. */
  takeBatch(): LogBatch;
  /** Called if the append failed; the batch is sent again. */
  release(): void;
  applyVerdict(verdict: Appended): void;
  loseOwnership(reason: RunLostReason): void;
  resumeWaiting(): void;
};

type Barrier = { seq: number; resolve(result: 'durable' | 'stop'): void; reject(error: RunLostError): void };

/** Creates the writer of one run: numbers its events, and tracks which of them are durable. */
export function createRunWriter(
  run: RunKey,
  epoch: number,
  firstSeq: number,
  host: WriterHost,
  { onStop, onLost }: RunWriterOptions,
): HostedWriter {
  const buffer = createEventBuffer();
  /** Number that the first buffered event will get. */
  let nextSeq = firstSeq;
  /** Number of the last event that is known to be durable. */
  let durableSeq = firstSeq - 1;
  /** Never changes once it was sent: after a lost reply, its numbers show whether it is in the log. */
  let batch: (LogBatch & { bytes: number }) | undefined;
  let inFlight = false;
  /** The run was locked by another transaction: it waits for the tick, even at a barrier. */
  let isLocked = false;
  let isEnding = false;
  let stopRequested = false;
  let lost: RunLostReason | undefined;
  let barriers: Barrier[] = [];
  let waiting: Array<() => void> = [];

  const getBarrierResult = (): 'durable' | 'stop' => (stopRequested ? 'stop' : 'durable');
  const countHeldBytes = (): number => buffer.bytes + (batch?.bytes ?? 0);
  const hasRoom = (): boolean => lost !== undefined || host.hasRoom(countHeldBytes());

  const resumeWaiting = (): void => {
    if (waiting.length === 0 || !hasRoom()) return;
    const resumed = waiting;
    waiting = [];
    for (const resolve of resumed) resolve();
  };

  const loseOwnership = (reason: RunLostReason): void => {
    if (lost) return;
    lost = reason;
    host.addBytes(-countHeldBytes());
    batch = undefined;
    const error = new RunLostError(run, reason);
    const failed = barriers;
    barriers = [];
    for (const barrier of failed) barrier.reject(error);
    resumeWaiting();
    host.onClosed();
    if (onLost) queueMicrotask(() => onLost(reason));
  };

  const barrier = async (): Promise<'durable' | 'stop'> => {
    if (lost) throw new RunLostError(run, lost);
    buffer.settle();
    if (!batch && buffer.length === 0) return getBarrierResult();
    const seq = nextSeq + buffer.length - 1;
    const durable = new Promise<'durable' | 'stop'>((resolve, reject) => barriers.push({ seq, resolve, reject }));
    host.requestFlush(true);
    return durable;
  };

  const handleCommitted = (): void => {
    const { seq, events, bytes } = batch!;
    batch = undefined;
    host.addBytes(-bytes);
    host.deliver({ epoch, seq, events, bytes });
    const last = seq + events.length - 1;
    durableSeq = last;
    const passedBarriers = barriers.filter((each) => each.seq <= last);
    barriers = barriers.filter((each) => each.seq > last);
    for (const each of passedBarriers) each.resolve(getBarrierResult());
  };

  return {
    get stopRequested() {
      return stopRequested;
    },
    get lost() {
      return lost;
    },
    async waitForRoom() {
      if (!hasRoom()) await new Promise<void>((resolve) => void waiting.push(resolve));
    },

    write(event) {
      if (lost || isEnding) return;
      const before = buffer.bytes;
      buffer.push(event);
      host.addBytes(buffer.bytes - before);
      host.requestFlush(false);
    },

    barrier,

    async finish(commit) {
      try {
        // Waits for the verdict on the batch in flight. Events that exceed one statement are written before the end.
        if (batch || buffer.bytes > host.maxBatchBytes) await barrier();
      } catch (error) {
        if (error instanceof RunLostError) return { result: 'fenced' };
        throw error;
      }
      if (lost) return { result: 'fenced' };
      isEnding = true;
      const { events, bytes } = buffer.takeBatch(Infinity);
      host.addBytes(-bytes);
      const result = await host.retry(() => commit({ nextSeq, events }));
      if (result.result === 'ok' && events.length > 0) host.deliver({ epoch, seq: nextSeq, events, bytes });
      loseOwnership(result.result === 'ok' ? 'ended' : 'fenced');
      return result;
    },

    close: () => loseOwnership('closed'),

    isDirty() {
      if (lost || inFlight) return false;
      return batch !== undefined || buffer.bytes > 0;
    },
    isUrgent: () => barriers.length > 0 && !isLocked,
    isUnwritten: () => durableSeq === 0 && !isEnding,

    takeBatch() {
      inFlight = true;
      if (!batch) {
        batch = { run, epoch, seq: nextSeq, ...buffer.takeBatch(host.maxBatchBytes) };
        nextSeq += batch.events.length;
      }
      const { bytes: _, ...rest } = batch;
      return rest;
    },

    release() {
      inFlight = false;
    },

    applyVerdict(verdict) {
      inFlight = false;
      isLocked = verdict === 'locked';
      // The writer was closed while the statement was in flight.
      if (lost) return;
      switch (verdict) {
        case 'ok':
        case 'stop':
        case 'applied': {
          const isFirst = verdict === 'stop' && !stopRequested;
          stopRequested ||= verdict === 'stop';
          handleCommitted();
          if (isFirst && onStop) queueMicrotask(onStop);
          return;
        }
        case 'locked':
          return;
        case 'fenced':
        case 'ended':
        case 'regressed':
          return loseOwnership(verdict);
      }
    },

    loseOwnership,
    resumeWaiting,
  };
}
