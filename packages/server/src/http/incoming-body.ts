import type { IncomingMessage } from 'node:http';
import { IntertieError } from '../errors/intertie-error.ts';

/**
 * Reads the body of a Node request with backpressure. Cancelling keeps the connection open, unlike Node's own stream, so that
 * the server can still respond with the reason for refusing the body.
 */
export function incomingBody(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let removeListeners: () => void;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const onData = (chunk: Uint8Array): void => {
          controller.enqueue(chunk);
          if ((controller.desiredSize ?? 0) <= 0) incoming.pause();
        };
        const onEnd = (): void => {
          removeListeners();
          controller.close();
        };
        const onBroken = (): void => {
          removeListeners();
          controller.error(new IntertieError('bad-request', 'The client disconnected before the body was complete.'));
        };
        removeListeners = () => {
          incoming.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
        };
        incoming.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
        incoming.pause();
      },
      pull() {
        incoming.resume();
      },
      cancel() {
        removeListeners();
        incoming.on('error', () => undefined);
        incoming.resume();
      },
    },
    { highWaterMark: 0 },
  );
}
