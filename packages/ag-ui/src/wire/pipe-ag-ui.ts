import { iterate } from '@intertie/core';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { toAGUIText } from './ag-ui-frame.ts';

/** The part of `WebSocket` that is used; browsers, workers and `ws` provide it. */
export interface SocketLike {
  send(data: string): void;
  /** Bytes queued in the socket. Not all sockets provide it. */
  readonly bufferedAmount?: number;
  addEventListener(type: 'close' | 'error', listener: () => void): void;
}

export interface PipeAGUIOptions {
  /** Maximum number of bytes queued in the socket before reading pauses. Default: 1 MB. */
  maxBuffered?: number;
  /** Interval at which a full socket is polled, in milliseconds. Default: 10. */
  drainMs?: number;
}

/** Sends events over a socket, one per frame, with backpressure. Cancels the run when the socket closes. */
export async function pipeAGUI(
  socket: SocketLike,
  events: ReadableStream<AGUIEvent> | AsyncGenerator<AGUIEvent>,
  { maxBuffered = 1_000_000, drainMs = 10 }: PipeAGUIOptions = {},
): Promise<void> {
  const iterator = 'getReader' in events ? iterate(events) : events;
  let isClosed = false;
  const onClose = (): void => {
    isClosed = true;
    void iterator.return?.(new DOMException('The socket closed.', 'AbortError')).catch(() => undefined);
  };
  const isFull = (): boolean => !isClosed && (socket.bufferedAmount ?? 0) > maxBuffered;
  socket.addEventListener('close', onClose);
  socket.addEventListener('error', onClose);
  for await (const event of iterator) {
    // Polled, because sockets have no drain event.
    while (isFull()) await new Promise((resolve) => setTimeout(resolve, drainMs));
    if (isClosed) return;
    socket.send(toAGUIText(event));
  }
}
