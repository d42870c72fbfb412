import { iterate } from '@intertie/core';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { toAGUIText } from './ag-ui-frame.ts';

/** What of a `WebSocket` is used: that of a browser, of a worker, of `ws`. */
export interface SocketLike {
  send(data: string): void;
  /** How much has been handed over and not been sent yet. Not every socket says. */
  readonly bufferedAmount?: number;
  addEventListener(type: 'close' | 'error', listener: () => void): void;
}

export interface PipeAGUIOptions {
  /** How much may wait in the socket before no more is pulled, in bytes. Default: 1 MB. */
  maxBuffered?: number;
  /** How often a full socket is looked at, in milliseconds. Default: 10. */
  drainMs?: number;
}

/** Sends events over a socket, one a frame, no faster than it takes them. A socket that closes cancels the run. */
export async function pipeAGUI(
  socket: SocketLike,
  events: ReadableStream<AGUIEvent> | AsyncGenerator<AGUIEvent>,
  { maxBuffered = 1_000_000, drainMs = 10 }: PipeAGUIOptions = {},
): Promise<void> {
  const iterator = 'getReader' in events ? iterate(events) : events;
  let isClosed = false;
  const leave = (): void => {
    isClosed = true;
    void iterator.return?.(new DOMException('The socket closed.', 'AbortError')).catch(() => undefined);
  };
  const isFull = (): boolean => !isClosed && (socket.bufferedAmount ?? 0) > maxBuffered;
  socket.addEventListener('close', leave);
  socket.addEventListener('error', leave);
  for await (const event of iterator) {
    // oxlint-disable-next-line no-await-in-loop -- a socket does not say when it has room again
    while (isFull()) await new Promise((resolve) => setTimeout(resolve, drainMs));
    if (isClosed) return;
    socket.send(toAGUIText(event));
  }
}
