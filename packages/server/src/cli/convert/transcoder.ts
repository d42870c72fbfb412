import {
  compose,
  seal,
  type AgentEvent,
  type Codec,
  type Emit,
  type MessageContent,
  type OnLoss,
  type RunInput,
} from '@intertie/core';
import { readEvent, asFields } from '@intertie/core/internal';
import type { KnownDialect } from '../formats/known-dialect.ts';

export interface TranscoderOptions {
  from: KnownDialect;
  to: KnownDialect;
  onLoss: OnLoss;
  now: () => number;
  /** A run is over, and all of it has been written. */
  onRunEnd?: (end: Extract<AgentEvent, { type: 'run-end' }>) => void;
}

export interface Transcoder extends Codec<unknown, unknown> {
  /** The wire says that this stream is over, though another may follow in the same input. */
  finish(emit: Emit<unknown>): void;
}

/**
 * From one dialect to another, through canonical events and the seal. An input may hold one run after the other, as a log
 * does; each is read by codecs of its own, so that nothing grows with their number. Nothing is random: where the wire has no
 * ids, runs are numbered.
 */
export function createTranscoder(options: TranscoderOptions): Transcoder {
  const { from, to, onRunEnd } = options;
  let runs = 0;
  let held: unknown[] = [];
  let pipe: Codec<unknown, unknown> | undefined;
  let isOver = false;

  const begin = (): Codec<unknown, unknown> => {
    runs += 1;
    isOver = false;
    return createPipe(from, to, runInput(options, held, runs), options.onLoss, (end) => {
      isOver = true;
      onRunEnd?.(end);
    });
  };

  const start = (emit: Emit<unknown>): void => {
    if (held.length === 0) return;
    const codec = (pipe = begin());
    for (const item of held) codec.feed(item, emit);
    held = [];
  };

  const finish = (emit: Emit<unknown>): void => {
    if (!pipe) start(emit);
    pipe?.end({ reason: 'eof' }, emit);
    pipe = undefined;
  };

  return {
    feed(item, emit) {
      if (pipe && isOver && from.startsRun(item)) finish(emit);
      if (pipe) return pipe.feed(item, emit);
      held.push(item);
      // What a continuation goes on with is said by its second event.
      if (asFields(item).type !== 'run-start' || asFields(item).resumes === undefined) start(emit);
    },
    finish,
    end(_, emit) {
      // Of an empty input there is still something to say: that it was cut off.
      if (runs === 0 && held.length === 0) pipe = begin();
      finish(emit);
    },
  };
}

type OnRunEnd = NonNullable<TranscoderOptions['onRunEnd']>;

function createPipe(
  { dialect: from }: KnownDialect,
  { dialect: to }: KnownDialect,
  run: RunInput,
  onLoss: OnLoss,
  onRunEnd: OnRunEnd,
): Codec<unknown, unknown> {
  const encoder = to.encoder!(run, onLoss);
  const reportingEncoder: Codec<AgentEvent, unknown> = {
    feed(event, emit) {
      encoder.feed(event, emit);
      if (event.type === 'run-end') onRunEnd(event);
    },
    end: (end, emit) => encoder.end(end, emit),
  };
  return compose(compose(from.decoder!(run, onLoss), seal(run, onLoss)), reportingEncoder);
}

function runInput({ from, now }: TranscoderOptions, items: readonly unknown[], count: number): RunInput {
  const [first, second] = items;
  const { startedAt = now(), ...named } = from.namesOf(first);
  const { resumes } = asFields(first);
  const message = typeof resumes === 'string' ? baselineOf(second) : undefined;
  return {
    runId: `run-${count}`,
    threadId: 'thread-1',
    messageId: `message-${count}`,
    ...named,
    startedAt,
    ...(message && { resumes: resumes as string, message }),
    history: [],
    answers: [],
    tools: [],
    context: [],
  };
}

/** What a canonical continuation goes on with. */
function baselineOf(item: unknown): MessageContent | undefined {
  try {
    const event = readEvent(item);
    return event.type === 'message-snapshot' ? event.content : undefined;
  } catch {
    return undefined;
  }
}
