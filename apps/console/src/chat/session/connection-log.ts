import { acquireAnswerSlot, type AcquireSlot, type StreamSlot } from '../../connection/stream-slots.ts';
import { onHiddenTimeout, waitUntilVisible } from '../../connection/tab-connections.ts';

/** State change of the connection that streams an answer. `released`: closed by this page, to be resumed later. */
export type ConnectionLogEntry = {
  at: number;
  type: 'open' | 'cut' | 'released' | 'resumed' | 'closed';
  /** Cursor of a resume. */
  after?: string;
};

export type Visibility = { waitUntilVisible: typeof waitUntilVisible; onHiddenTimeout: typeof onHiddenTimeout };

export type WatchConnectionOptions = { send?: typeof fetch; visibility?: Visibility; acquireSlot?: AcquireSlot };

/** Time for which the answer to a new message streams without a slot. */
const graceMs = 4000;

/**
 * Creates a `fetch` for the chat transport that logs state changes of answer streams. Browsers allow few connections per server, and
 * a run does not need one. So a stream is released when the page has been hidden for a while or its slot is revoked. The transport
 * then resumes after the last event, which waits until the page is visible and has a slot.
 */
export function watchConnection(
  log: (entry: ConnectionLogEntry) => void,
  options: WatchConnectionOptions = {},
): typeof fetch {
  const { send = (...args) => fetch(...args), visibility = { waitUntilVisible, onHiddenTimeout } } = options;
  const { acquireSlot = acquireAnswerSlot } = options;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input, 'http://here');
    if (url.pathname.endsWith('/stop')) return send(input, init);
    const signal = init?.signal ?? new AbortController().signal;
    const after = url.searchParams.get('after');
    if (after !== null) await visibility.waitUntilVisible(signal);
    // A new message is sent immediately; only its answer needs a slot.
    const slot = init?.method === 'POST' ? undefined : await acquireSlot(signal);
    const response = await send(input, init).catch((error: unknown) => {
      slot?.release();
      throw error;
    });
    if (!response.ok || response.body === null) {
      slot?.release();
      return response;
    }
    log(after === null ? { at: Date.now(), type: 'open' } : { at: Date.now(), type: 'resumed', after });
    const { status, statusText, headers } = response;
    const body = watchBody(response.body, { log, visibility, slot, acquireSlot });
    return new Response(body, { status, statusText, headers });
  };
}

type WatchBodyOptions = {
  log: (entry: ConnectionLogEntry) => void;
  visibility: Visibility;
  /** Absent for the answer to a new message, which acquires its slot while it streams. */
  slot: StreamSlot | undefined;
  acquireSlot: AcquireSlot;
};

function watchBody(body: ReadableStream<Uint8Array>, options: WatchBodyOptions): ReadableStream<Uint8Array> {
  const { log, visibility, acquireSlot } = options;
  const reader = body.getReader();
  const ended = new AbortController();
  let { slot } = options;
  let cancelHiddenTimeout: (() => void) | undefined;
  let isFirst = true;
  /** Logs how the stream ended. Only the first call has an effect. */
  const end = (type: 'cut' | 'released' | 'closed'): boolean => {
    if (ended.signal.aborted) return false;
    ended.abort();
    cancelHiddenTimeout?.();
    slot?.release();
    log({ at: Date.now(), type });
    return true;
  };

  /** Calls `release` when the slot is revoked, or if no slot is free within the grace period. */
  const releaseWhenRevoked = async (release: () => void): Promise<void> => {
    try {
      slot ??= await acquireSlot(AbortSignal.any([ended.signal, AbortSignal.timeout(graceMs)]));
    } catch {
      return release();
    }
    if (ended.signal.aborted) slot.release();
    else if (slot.revoked.aborted) release();
    else slot.revoked.addEventListener('abort', release, { once: true });
  };

  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return end('closed') ? controller.close() : undefined;
        controller.enqueue(value);
        if (!isFirst) return;
        isFirst = false;
        // The stream can be released from now on, since the transport has a cursor to resume after.
        const release = (): void => {
          if (!end('released')) return;
          controller.error(new TypeError('The connection was released.'));
          reader.cancel().catch(() => undefined);
        };
        cancelHiddenTimeout = visibility.onHiddenTimeout(release);
        void releaseWhenRevoked(release);
      } catch (error) {
        if (end('cut')) controller.error(error);
      }
    },
    cancel(reason) {
      end('closed');
      return reader.cancel(reason);
    },
  });
}

/** Describes the entries for the user. A stream that closed before a resume was interrupted. */
export function describeConnectionLog(log: readonly ConnectionLogEntry[]): string[] {
  return log.map(({ type, after }, index) => {
    const next = log[index + 1];
    switch (type) {
      case 'open':
        return 'Connected';
      case 'cut':
        return 'Interrupted';
      case 'released':
        return 'Released: another tab reads, or the page was hidden';
      case 'closed':
        return next?.type === 'resumed' ? 'Interrupted' : 'Complete';
      case 'resumed': {
        const before = log[index - 1];
        const gap = before === undefined ? 0 : log[index]!.at - before.at;
        return `Resumed after event ${after?.split('~').at(-1)} (${gap} ms later)`;
      }
    }
  });
}
