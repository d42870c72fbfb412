import { onLongHidden, whenSeen } from '../shared-wire.ts';

/** What happened to the connection that an answer comes on. */
export type WireNote = { at: number; type: 'open' | 'cut' | 'resumed' | 'closed'; after?: string };

/** How a page that nobody sees lets go of its connections. */
export type Visibility = { whenSeen: typeof whenSeen; onLongHidden: typeof onLongHidden };

export type WatchWireOptions = { send?: typeof fetch; visibility?: Visibility };

/**
 * A `fetch` that tells what becomes of the streams of a chat; everything else passes as it is. A page that has been hidden for a
 * while lets its stream go, and goes on behind it when it is seen: a browser has only so many connections, and the run does not
 * need this one.
 */
export function watchWire(note: (note: WireNote) => void, options: WatchWireOptions = {}): typeof fetch {
  const { send = (...args) => fetch(...args), visibility = { whenSeen, onLongHidden } } = options;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input, 'http://here');
    const isStream = !url.pathname.endsWith('/stop');
    const after = url.searchParams.get('after');
    if (after !== null) await visibility.whenSeen(init?.signal ?? new AbortController().signal);
    const response = await send(input, init);
    if (!isStream || !response.ok || response.body === null) return response;
    note(after === null ? { at: Date.now(), type: 'open' } : { at: Date.now(), type: 'resumed', after });
    const { status, statusText, headers } = response;
    return new Response(watched(response.body, note, visibility), { status, statusText, headers });
  };
}

function watched(
  body: ReadableStream<Uint8Array>,
  note: (note: WireNote) => void,
  { onLongHidden: onHidden }: Visibility,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let forget: (() => void) | undefined;
  let isFirst = true;
  let isOver = false;
  /** What happens first is what happened. */
  const end = (type: 'cut' | 'closed'): boolean => {
    if (isOver) return false;
    isOver = true;
    forget?.();
    note({ at: Date.now(), type });
    return true;
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
        forget = onHidden(() => {
          end('cut');
          controller.error(new TypeError('The page was hidden.'));
          reader.cancel().catch(() => undefined);
        });
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
