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
import type { Protocol } from '@intertie/core';

export interface TranscoderOptions {
  from: Protocol;
  to: Protocol;
  onLoss: OnLoss;
  now: () => number;
  /** Called after the end of a run has been encoded. */
  onRunEnd?: (end: Extract<AgentEvent, { type: 'run-end' }>) => void;
}

export interface Transcoder extends Codec<unknown, unknown> {
  /** Ends the current stream, for example at `[DONE]`. Another one may follow in the same input. */
  finish(emit: Emit<unknown>): void;
}

/**
 * Converts items from one protocol to another, through canonical events and the seal. An input may contain consecutive runs;
 * each has its own codecs, so that memory does not grow with their number. Output is deterministic: runs without ids are
 * numbered.
 */
export function createTranscoder(options: TranscoderOptions): Transcoder {
  const { from, to, onRunEnd } = options;
  let runs = 0;
  let buffered: unknown[] = [];
  let pipe: Codec<unknown, unknown> | undefined;
  let hasEnded = false;

  const createNextPipe = (): Codec<unknown, unknown> => {
    runs += 1;
    hasEnded = false;
    return createPipe(from, to, runInput(options, buffered, runs), options.onLoss, (end) => {
      hasEnded = true;
      onRunEnd?.(end);
    });
  };

  const start = (emit: Emit<unknown>): void => {
    if (buffered.length === 0) return;
    const codec = (pipe = createNextPipe());
    for (const item of buffered) codec.feed(item, emit);
    buffered = [];
  };

  const finish = (emit: Emit<unknown>): void => {
    if (!pipe) start(emit);
    pipe?.end({ reason: 'eof' }, emit);
    pipe = undefined;
  };

  return {
    feed(item, emit) {
      if (pipe && hasEnded && from.startsRun?.(item)) finish(emit);
      if (pipe) return pipe.feed(item, emit);
      buffered.push(item);
      // The second event of a canonical continuation contains the message that it continues.
      if (asFields(item).type !== 'run-start' || asFields(item).resumes === undefined) start(emit);
    },
    finish,
    end(_, emit) {
      // An empty input still produces one truncated run.
      if (runs === 0 && buffered.length === 0) pipe = createNextPipe();
      finish(emit);
    },
  };
}

type OnRunEnd = NonNullable<TranscoderOptions['onRunEnd']>;

function createPipe(
  from: Protocol,
  to: Protocol,
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
  const { startedAt = now(), ...named } = from.readRunIds?.(first) ?? {};
  const { resumes } = asFields(first);
  const message = typeof resumes === 'string' ? readBaseline(second) : undefined;
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

/** Reads the message that a canonical continuation continues. */
function readBaseline(item: unknown): MessageContent | undefined {
  try {
    const event = readEvent(item);
    return event.type === 'message-snapshot' ? event.content : undefined;
  } catch {
    return undefined;
  }
}
