import type { AgentEvent } from '../event/event.ts';
import { createEventBuffer } from './event-buffer.ts';
import type { FinishRequest, FinishResult } from '../store/registry.ts';
import type { Appended, LogBatch, RunKey } from '../store/run-log.ts';
import { RunLostError, type RunLostReason } from '../store/run-lost-error.ts';

/** Events that have become durable, of about so many bytes. Readers share them: they are not to be changed. */
export type CommittedBatch = { epoch: number; seq: number; events: readonly AgentEvent[]; bytes: number };

export type RunWriterOptions = {
  /** Somebody asked the run to stop, as an append has told. Called once; what is written after it is kept. */
  onStop?: () => void;
  /** The run is not this process's any more. Called once. */
  onLost?: (reason: RunLostReason) => void;
};

/** The end of a run that only the flusher knows: what is not in the log yet, and its first number. */
export type UnwrittenEnd = Pick<FinishRequest, 'nextSeq' | 'events'>;

/** One run's way to the log. */
export interface RunWriter {
  /** Whether a stop is requested, as far as is known here. */
  readonly stopRequested: boolean;
  /** Why the run cannot be written any more, if it cannot. */
  readonly lost: RunLostReason | undefined;
  /** Resolves when the buffer has room. Await it before reading the next event of the source. */
  waitForRoom(): Promise<void>;
  /** Buffers the event for the next flush. Nobody sees it before it is durable. */
  write(event: AgentEvent): void;
  /**
   * Resolves when all that was written so far is durable, without waiting for the tick, and says whether a stop is
   * requested. Rejects with a `RunLostError` if it never will be.
   */
  barrier(): Promise<'durable' | 'stop'>;
  /**
   * Ends the run: `commit` calls the registry's `finish` with what is not written yet. It is called again until the store
   * has answered. Then local readers are given the end, and nothing more can be written.
   */
  finish(commit: (rest: UnwrittenEnd) => Promise<FinishResult>): Promise<FinishResult>;
  /** Leaves the run as it is; what is not durable is dropped. */
  close(): void;
}

/** What the flusher does for its writers. */
export type WriterHost = {
  readonly maxBatchBytes: number;
  /** Whether the process, and a run with that many bytes, may buffer more. */
  hasRoom(bytes: number): boolean;
  /** So many more bytes are buffered, or fewer. */
  grew(bytes: number): void;
  /** There is something to write; `urgent` does not wait for the tick. */
  wake(urgent: boolean): void;
  deliver(batch: CommittedBatch): void;
  /** Calls until it is answered, as long as the flusher is open. */
  persist<Result>(call: () => Promise<Result>): Promise<Result>;
  /** Nothing more will come. */
  left(): void;
};

/** The flusher's side of a writer. */
export type HostedWriter = RunWriter & {
  /** Whether a flush would find something to write. */
  isDirty(): boolean;
  /** Whether somebody waits at a barrier. */
  isUrgent(): boolean;
  /** Whether nothing has been given to readers, and there was nothing before. */
  isUnwritten(): boolean;
  /** The next batch, the same one again until it is judged. */
  take(): LogBatch;
  /** No answer: the batch goes out again. */
  release(): void;
  judge(verdict: Appended): void;
  lose(reason: RunLostReason): void;
  admit(): void;
};

type Barrier = { seq: number; resolve(passed: 'durable' | 'stop'): void; reject(error: RunLostError): void };

export function createRunWriter(
  run: RunKey,
  epoch: number,
  firstSeq: number,
  host: WriterHost,
  { onStop, onLost }: RunWriterOptions,
): HostedWriter {
  const buffer = createEventBuffer();
  /** The number that the first event of the buffer will get. */
  let nextSeq = firstSeq;
  /** The last number that is known to be in the log. */
  let durableSeq = firstSeq - 1;
  /** Once it was sent it never changes: after a lost acknowledgement its numbers say whether it is there. */
  let batch: (LogBatch & { bytes: number }) | undefined;
  let inFlight = false;
  /** Somebody held the run for a moment: it waits for the tick, barrier or not. */
  let isLocked = false;
  let isEnding = false;
  let stopRequested = false;
  let lost: RunLostReason | undefined;
  let barriers: Barrier[] = [];
  let waiting: Array<() => void> = [];

  const passed = (): 'durable' | 'stop' => (stopRequested ? 'stop' : 'durable');
  const heldBytes = (): number => buffer.bytes + (batch?.bytes ?? 0);
  const hasRoom = (): boolean => lost !== undefined || host.hasRoom(heldBytes());

  const admit = (): void => {
    if (waiting.length === 0 || !hasRoom()) return;
    const admitted = waiting;
    waiting = [];
    for (const resolve of admitted) resolve();
  };

  const lose = (reason: RunLostReason): void => {
    if (lost) return;
    lost = reason;
    host.grew(-heldBytes());
    batch = undefined;
    const error = new RunLostError(run, reason);
    const failed = barriers;
    barriers = [];
    for (const barrier of failed) barrier.reject(error);
    admit();
    host.left();
    if (onLost) queueMicrotask(() => onLost(reason));
  };

  const barrier = async (): Promise<'durable' | 'stop'> => {
    if (lost) throw new RunLostError(run, lost);
    buffer.settle();
    if (!batch && buffer.length === 0) return passed();
    const seq = nextSeq + buffer.length - 1;
    const durable = new Promise<'durable' | 'stop'>((resolve, reject) => barriers.push({ seq, resolve, reject }));
    host.wake(true);
    return durable;
  };

  const committed = (): void => {
    const { seq, events, bytes } = batch!;
    batch = undefined;
    host.grew(-bytes);
    host.deliver({ epoch, seq, events, bytes });
    const last = seq + events.length - 1;
    durableSeq = last;
    const reached = barriers.filter((each) => each.seq <= last);
    barriers = barriers.filter((each) => each.seq > last);
    for (const each of reached) each.resolve(passed());
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
      host.grew(buffer.bytes - before);
      host.wake(false);
    },

    barrier,

    async finish(commit) {
      try {
        // What is under way has to be judged first, and too much for one statement goes ahead of the end.
        if (batch || buffer.bytes > host.maxBatchBytes) await barrier();
      } catch (error) {
        if (error instanceof RunLostError) return { result: 'fenced' };
        throw error;
      }
      if (lost) return { result: 'fenced' };
      isEnding = true;
      const { events, bytes } = buffer.take(Infinity);
      host.grew(-bytes);
      const result = await host.persist(() => commit({ nextSeq, events }));
      if (result.result === 'ok' && events.length > 0) host.deliver({ epoch, seq: nextSeq, events, bytes });
      lose(result.result === 'ok' ? 'ended' : 'fenced');
      return result;
    },

    close: () => lose('closed'),

    isDirty() {
      if (lost || inFlight) return false;
      return batch !== undefined || buffer.bytes > 0;
    },
    isUrgent: () => barriers.length > 0 && !isLocked,
    isUnwritten: () => durableSeq === 0 && !isEnding,

    take() {
      inFlight = true;
      if (!batch) {
        batch = { run, epoch, seq: nextSeq, ...buffer.take(host.maxBatchBytes) };
        nextSeq += batch.events.length;
      }
      const { bytes: _, ...rest } = batch;
      return rest;
    },

    release() {
      inFlight = false;
    },

    judge(verdict) {
      inFlight = false;
      isLocked = verdict === 'locked';
      // It was left while the statement was under way.
      if (lost) return;
      switch (verdict) {
        case 'ok':
        case 'stop':
        case 'applied': {
          const isFirst = verdict === 'stop' && !stopRequested;
          stopRequested ||= verdict === 'stop';
          committed();
          if (isFirst && onStop) queueMicrotask(onStop);
          return;
        }
        case 'locked':
          return;
        case 'fenced':
        case 'ended':
        case 'regressed':
          return lose(verdict);
      }
    },

    lose,
    admit,
  };
}
