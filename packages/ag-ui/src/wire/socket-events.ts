import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { isFields } from '../shared/read-fields.ts';
import { parseJson } from './http-events.ts';
import { pushEvents } from './push-events.ts';

const eventType = /^[A-Z]+(?:_[A-Z]+)*$/;

/** Sends a request over a WebSocket and yields the events of the response. Frames without an AG-UI type are ignored. */
export async function* socketEvents(url: string, input: AGUIRunInput, signal: AbortSignal): AsyncGenerator {
  if (typeof WebSocket === 'undefined') {
    throw new TypeError('WebSocket is not available on this platform. Use an https: URL for the agent.');
  }
  yield* pushEvents((sink) => {
    const socket = new WebSocket(url);
    socket.addEventListener('open', () => socket.send(JSON.stringify(input)));
    socket.addEventListener('message', ({ data }: MessageEvent) => {
      const event = typeof data === 'string' ? parseJson(data) : undefined;
      if (isFields(event) && typeof event.type === 'string' && eventType.test(event.type)) sink.next(event);
    });
    socket.addEventListener('error', () =>
      sink.error(Object.assign(new Error(`The socket to ${url} failed.`), { code: 'socket' })),
    );
    socket.addEventListener('close', () => sink.complete());
    signal.addEventListener('abort', () => socket.close(), { once: true });
    return () => socket.close();
  });
}
