import type { MAILFrame } from '../shared/mail-event.ts';

export type FrameTimeouts = { silenceMs: number; progressMs: number };

/** `setTimeout` fires immediately for longer delays. */
const maxDelay = 2 ** 31 - 1;

/** A frame timeout expired. `idle`: nothing arrived. `no-progress`: only pings arrived. */
export class FrameTimeoutError extends Error {
  readonly code: 'idle' | 'no-progress';
  constructor(code: 'idle' | 'no-progress', message: string) {
    super(message);
    this.name = 'FrameLimitError';
    this.code = code;
  }
}

/**
 * Fails a stream that is silent for `silenceMs`, or that only pings for `progressMs`. The server has no timeout of its own: a
 * stuck task pings forever, and a dead connection delivers nothing. `stop` cancels the pending read.
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
    // After a timeout, nothing else handles a rejection of `work`.
    work.catch(() => undefined);
  }
}
