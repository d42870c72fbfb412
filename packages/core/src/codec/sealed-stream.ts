import type { End } from './codec.ts';
import type { AgentEvent } from '../event/event.ts';
import type { RunInput } from '../event/run-input.ts';

/** A stream of events that already went through the seal of a run. */
export interface SealedStream {
  readonly events: ReadableStream<AgentEvent>;
  /** Input of the run whose seal the events went through. */
  readonly run: RunInput;
  /** Events of the log that the seal continues. */
  readonly log: readonly AgentEvent[] | undefined;
  /** Ends the run early: the stream closes what is open, writes `run-end` and cancels its input. No effect after the end. */
  readonly end: (end: End) => void;
}

export type SealedRun = Pick<SealedStream, 'run' | 'log'>;

/** Codecs whose output is sealed, with the run. Keyed by identity: a codec that wraps or spreads a seal is not marked. */
const sealedRuns = new WeakMap<object, SealedRun>();
const sealedStreams = new WeakMap<ReadableStream<AgentEvent>, SealedStream>();

/** Marks a codec that is a seal or ends with one. */
export function markSealedCodec(codec: object, run: SealedRun): void {
  sealedRuns.set(codec, run);
}

export function findSealedRun(codec: object): SealedRun | undefined {
  return sealedRuns.get(codec);
}

/** Marks a stream as sealed, so that its events are not sealed again. */
export function markSealedStream(sealed: SealedStream): void {
  sealedStreams.set(sealed.events, sealed);
}

export function findSealed(events: ReadableStream<AgentEvent>): SealedStream | undefined {
  return sealedStreams.get(events);
}

/** Marks `wrapper` as sealed if `events` is. The wrapper must deliver every event of `events`, unchanged and in order. */
export function copySealedMark(events: ReadableStream<AgentEvent>, wrapper: ReadableStream<AgentEvent>): void {
  const sealed = findSealed(events);
  if (sealed) markSealedStream({ ...sealed, events: wrapper });
}
