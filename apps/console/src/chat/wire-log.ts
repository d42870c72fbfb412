import { onLongHidden, whenSeen } from '../shared-wire.ts';
import { answerTurns, type TakeTurn, type Turn } from '../wire-turns.ts';

/** What happened to the connection that an answer comes on. `left`: it was let go, for another tab or while nobody looked. */
export type WireNote = { at: number; type: 'open' | 'cut' | 'left' | 'resumed' | 'closed'; after?: string };

/** How a page that nobody sees lets go of its connections. */
export type Visibility = { whenSeen: typeof whenSeen; onLongHidden: typeof onLongHidden };

export type WatchWireOptions = { send?: typeof fetch; visibility?: Visibility; takeTurn?: TakeTurn };

/** For how long what was just said is answered at once, whoever else reads. */
const firstMs = 4000;

/**
 * A `fetch` that tells what becomes of the streams of a chat; everything else passes as it is. A browser has only so many
 * connections, and a run does not need this one: so a page that has been hidden for a while lets its stream go, one whose turn is
 * over too, and both go on behind the last word when they are seen, or when it is their turn.
 */
export function watchWire(note: (note: WireNote) => void, options: WatchWireOptions = {}): typeof fetch {
  const { send = (...args) => fetch(...args), visibility = { whenSeen, onLongHidden } } = options;
  const { takeTurn = answerTurns } = options;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input, 'http://here');
    if (url.pathname.endsWith('/stop')) return send(input, init);
    const signal = init?.signal ?? new AbortController().signal;
    const after = url.searchParams.get('after');
    if (after !== null) await visibility.whenSeen(signal);
    // What somebody says goes out at once; only its answer has to find a place.
    const turn = init?.method === 'POST' ? undefined : await takeTurn(signal);
    const response = await send(input, init).catch((error: unknown) => {
      turn?.done();
      throw error;
    });
    if (!response.ok || response.body === null) {
      turn?.done();
      return response;
    }
    note(after === null ? { at: Date.now(), type: 'open' } : { at: Date.now(), type: 'resumed', after });
    const { status, statusText, headers } = response;
    const body = watched(response.body, { note, visibility, turn, takeTurn });
    return new Response(body, { status, statusText, headers });
  };
}

type Watching = {
  note: (note: WireNote) => void;
  visibility: Visibility;
  /** Absent of what was just sent: it has yet to find its place. */
  turn: Turn | undefined;
  takeTurn: TakeTurn;
};

function watched(body: ReadableStream<Uint8Array>, watching: Watching): ReadableStream<Uint8Array> {
  const { note, visibility, takeTurn } = watching;
  const reader = body.getReader();
  const over = new AbortController();
  let { turn } = watching;
  let forgetHidden: (() => void) | undefined;
  let isFirst = true;
  /** What happens first is what happened. */
  const end = (type: 'cut' | 'left' | 'closed'): boolean => {
    if (over.signal.aborted) return false;
    over.abort();
    forgetHidden?.();
    turn?.done();
    note({ at: Date.now(), type });
    return true;
  };

  const leaveInTime = async (leave: () => void): Promise<void> => {
    try {
      turn ??= await takeTurn(AbortSignal.any([over.signal, AbortSignal.timeout(firstMs)]));
    } catch {
      return leave();
    }
    if (over.signal.aborted) turn.done();
    else if (turn.over.aborted) leave();
    else turn.over.addEventListener('abort', leave, { once: true });
  };

  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return end('closed') ? controller.close() : undefined;
        controller.enqueue(value);
        if (!isFirst) return;
        isFirst = false;
        // From here on there is a place to go on behind.
        const leave = (): void => {
          if (!end('left')) return;
          controller.error(new TypeError('The connection was let go.'));
          reader.cancel().catch(() => undefined);
        };
        forgetHidden = visibility.onLongHidden(leave);
        void leaveInTime(leave);
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

/** The notes in words. A stream that was closed and then resumed had been cut, however politely. */
export function describeWire(notes: readonly WireNote[]): string[] {
  return notes.map(({ type, after }, index) => {
    const next = notes[index + 1];
    switch (type) {
      case 'open':
        return 'Connected';
      case 'cut':
        return 'Cut off';
      case 'left':
        return 'Let go: another tab reads, or nobody looks';
      case 'closed':
        return next?.type === 'resumed' ? 'Cut off' : 'Complete';
      case 'resumed': {
        const before = notes[index - 1];
        const gap = before === undefined ? 0 : notes[index]!.at - before.at;
        return `Resumed behind ${after?.split('~').at(-1)} after ${gap} ms`;
      }
    }
  });
}
