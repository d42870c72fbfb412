import type { AgentEvent } from '../event/event.ts';
import type { Fault } from '../event/fault.ts';
import { findSealedRun, markSeal } from './sealed-stream.ts';
import { toFault } from '../event/to-fault.ts';

/**
 * Why a codec's input is over. The same bytes mean three things: the wire closed (`eof`, complete only if it had said so),
 * we closed it (`aborted`), or something failed (`error`: the socket, the idle limit, a rejected promise).
 */
export type End =
  | { reason: 'eof' }
  | { reason: 'aborted'; by?: 'user' | 'system'; message?: string }
  | { reason: 'error'; error: Fault };

export type Emit<Out> = (out: Out) => void;

/** A synchronous state machine from one stream to another. No I/O, clock, timer or randomness of its own. */
export interface Codec<In, Out> {
  /** Never throws on data. */
  feed(input: In, emit: Emit<Out>): void;
  /** Lets go of what is held back; the skin's timer calls it. */
  flush?(emit: Emit<Out>): void;
  /** Exactly once; after it, nothing. */
  end(end: End, emit: Emit<Out>): void;
}

/** From canonical events to a dialect. Equal options and events give equal output, and a prefix gives a prefix. */
export interface Encoder<Out, State = unknown> extends Codec<AgentEvent, Out> {
  readonly version: string;
  /** Names the options, so that a cursor knows whether it still fits. */
  readonly optionsKey: string;
  /** What a reader who joins in the middle needs first. */
  open?(state: State, emit: Emit<Out>): void;
}

/** Two codecs as one: what the first emits, the second is fed. */
export function compose<A, B, C>(first: Codec<A, B>, second: Codec<B, C>): Codec<A, C> {
  // One function for all inputs, and not one for each: there are many.
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
        // A broken codec must not keep the next one from closing what is open.
        why = { reason: 'error', error: toFault(error, 'codec') };
      }
      second.end(why, emit);
    },
  };
  const run = findSealedRun(second);
  if (run) markSeal(composed, run);
  return composed;
}

/** Everything that a codec makes of a list of inputs, for tests and small programs. */
export function transcode<In, Out>(codec: Codec<In, Out>, inputs: Iterable<In>, end: End = { reason: 'eof' }): Out[] {
  const outputs: Out[] = [];
  const emit = (out: Out): void => void outputs.push(out);
  for (const input of inputs) codec.feed(input, emit);
  codec.end(end, emit);
  return outputs;
}
