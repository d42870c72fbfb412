import type { MAILFrame } from '../shared/mail-event.ts';

export type FrameTimeouts = { silenceMs: number; progressMs: number };

/** Longer delays overflow a timer, which then fires at once. */
const maxDelay = 2 ** 31 - 1;

/** A limit was reached. `idle`: nothing arrived at all. `no-progress`: nothing but pings. */
export class FrameTimeoutError extends Error {
  readonly code: 'idle' | 'no-progress';
  constructor(code: 'idle' | 'no-progress', message: string) {
    super(message);
    this.name = 'FrameLimitError';
    this.code = code;
  }
}

/**
 * The server has no time limit of its own: a task that is stuck pings forever, and a dead connection says nothing. Any frame
 * is a sign of life, but a ping is no progress. `stop` is told to let go of what is being waited for.
 */
export async function* withFrameTimeouts(
  frames: AsyncIterator<MAILFrame>,
  { silenceMs, progressMs }: FrameTimeouts,
  stop: (error: Error) => void,
): AsyncGenerator<MAILFrame, void> {
  let progressAt = performance.now();
  for (;;) {
    const left = Math.max(0, progressMs - (performance.now() - progressAt));
    const error =
      left < silenceMs
        ? new FrameTimeoutError(
            'no-progress',
            `The MAIL task has made no progress for ${progressMs} ms. It may be stuck; "progressMs" sets the limit.`,
          )
        : new FrameTimeoutError(
            'idle',
            `The MAIL server was silent for ${silenceMs} ms, though it pings every 15 s. "silenceMs" sets the limit.`,
          );
    // oxlint-disable-next-line no-await-in-loop -- one frame after the other
    const result = await withTimeout(frames.next(), Math.min(left, silenceMs), error, stop);
    if (result.done) return;
    if (result.value.event !== 'ping') progressAt = performance.now();
    yield result.value;
  }
}

async function withTimeout<T>(work: Promise<T>, ms: number, error: Error, stop: (error: Error) => void): Promise<T> {
  if (ms > maxDelay) return work;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      stop(error);
      reject(error);
    }, ms);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
    // Nobody waits for it once the limit was reached.
    work.catch(() => undefined);
  }
}
