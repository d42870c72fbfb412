import type { AgentEvent } from '../event/event.ts';
import type { Fault } from '../event/fault.ts';
import { findSealedRun, markSealedCodec } from './sealed-stream.ts';
import { toFault } from '../event/to-fault.ts';

/**
 * Why the input of a codec ended: the connection closed (`eof`; the run is complete only if the protocol reported its end
 * before), we stopped it (`aborted`), or something failed (`error`: the socket, the idle limit, a rejected promise).
 */
export type End =
  | { reason: 'eof' }
  | { reason: 'aborted'; by?: 'user' | 'system'; message?: string }
  | { reason: 'error'; error: Fault };

/** Receives one output of a codec. */
export type Emit<Out> = (out: Out) => void;

/** Synchronous state machine from one stream to another. It has no I/O, clock, timer or randomness of its own. */
export interface Codec<In, Out> {
  /** Never throws on data. */
  feed(input: In, emit: Emit<Out>): void;
  /** Emits buffered output. Called by the timer of the surrounding stream. */
  flush?(emit: Emit<Out>): void;
  /** Called exactly once, as the last call. */
  end(end: End, emit: Emit<Out>): void;
}

/** Converts canonical events to a protocol. Equal options and events give equal output, and a prefix gives a prefix. */
export interface Encoder<Out, State = unknown> extends Codec<AgentEvent, Out> {
  readonly version: string;
  /** Identifies the options, so that a cursor of another encoder configuration can be rejected. */
  readonly optionsKey: string;
  /** Emits what a reader needs that joins in the middle of a run. */
  open?(state: State, emit: Emit<Out>): void;
}

/** Joins two codecs: the output of the first is the input of the second. */
export function compose<A, B, C>(first: Codec<A, B>, second: Codec<B, C>): Codec<A, C> {
  // One closure for all inputs instead of one per input.
  let emitOut: Emit<C>;
  const pass = (between: B): void => second.feed(between, emitOut);
  const composed: Codec<A, C> = {
    feed: (input, emit) => {
      emitOut = emit;
      first.feed(input, pass);
    },
    flush: (emit) => {
      emitOut = emit;
      first.flush?.(pass);
      second.flush?.(emit);
    },
    end: (end, emit) => {
      emitOut = emit;
      let why = end;
      try {
        first.end(end, pass);
      } catch (error) {
        // The second codec must still close its open scopes if the first one is broken.
        why = { reason: 'error', error: toFault(error, 'codec') };
      }
      second.end(why, emit);
    },
  };
  const run = findSealedRun(second);
  if (run) markSealedCodec(composed, run);
  return composed;
}

/** Emits events before the output of a codec, for example those that close what a dead process left open. */
export function prependEvents<In>(events: readonly AgentEvent[], codec: Codec<In, AgentEvent>): Codec<In, AgentEvent> {
  const pending = [...events];
  const emitPending = (emit: Emit<AgentEvent>): void => pending.splice(0).forEach(emit);
  return {
    feed(input, emit) {
      emitPending(emit);
      codec.feed(input, emit);
    },
    flush(emit) {
      emitPending(emit);
      codec.flush?.(emit);
    },
    end(end, emit) {
      emitPending(emit);
      codec.end(end, emit);
    },
  };
}

/** Returns the complete output of a codec for a list of inputs. For tests and small programs. */
export function transcode<In, Out>(codec: Codec<In, Out>, inputs: Iterable<In>, end: End = { reason: 'eof' }): Out[] {
  const outputs: Out[] = [];
  const emit = (out: Out): void => void outputs.push(out);
  for (const input of inputs) codec.feed(input, emit);
  codec.end(end, emit);
  return outputs;
}
