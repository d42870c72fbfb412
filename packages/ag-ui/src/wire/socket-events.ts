import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { isFields } from '../shared/read-fields.ts';
import { parseJson } from './http-events.ts';

const eventType = /^[A-Z]+(?:_[A-Z]+)*$/;

/** Sends a request over a WebSocket and yields the events of the response. Frames without an AG-UI type are ignored. */
export async function* socketEvents(url: string, input: AGUIRunInput, signal: AbortSignal): AsyncGenerator {
  if (typeof WebSocket === 'undefined') {
    throw new TypeError('WebSocket is not available on this platform. Use an https: URL for the agent.');
  }
  const socket = new WebSocket(url);
  const frames: unknown[] = [];
  let wake: (() => void) | undefined;
  let over: Error | 'closed' | undefined;
  const end = (why: Error | 'closed'): void => {
    over ??= why;
    wake?.();
  };
  socket.addEventListener('open', () => socket.send(JSON.stringify(input)));
  socket.addEventListener('message', ({ data }: MessageEvent) => {
    const event = typeof data === 'string' ? parseJson(data) : undefined;
    if (!isFields(event) || typeof event.type !== 'string' || !eventType.test(event.type)) return;
    frames.push(event);
    wake?.();
  });
  socket.addEventListener('error', () =>
    end(Object.assign(new Error(`The socket to ${url} failed.`), { code: 'socket' })),
  );
  socket.addEventListener('close', () => end('closed'));
  signal.addEventListener('abort', () => socket.close(), { once: true });
  try {
    for (;;) {
      yield* frames.splice(0);
      if (over instanceof Error) throw over;
      if (over) return;
      await new Promise<void>((resolve) => void (wake = resolve));
    }
  } finally {
    socket.close();
  }
}
