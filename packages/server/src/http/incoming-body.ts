import type { IncomingMessage } from 'node:http';
import { IntertieError } from '../errors/intertie-error.ts';

/**
 * The body of a request, as fast as it is read. Who stops reading leaves the connection as it is: Node's own stream would
 * close it, and with it the way to say why the body was refused.
 */
export function incomingBody(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let leave: () => void;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const onData = (chunk: Uint8Array): void => {
          controller.enqueue(chunk);
          if ((controller.desiredSize ?? 0) <= 0) incoming.pause();
        };
        const onEnd = (): void => {
          leave();
          controller.close();
        };
        const onBroken = (): void => {
          leave();
          controller.error(new IntertieError('bad-request', 'The client has gone before the body was complete.'));
        };
        leave = () => {
          incoming.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
        };
        incoming.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
        incoming.pause();
      },
      pull() {
        incoming.resume();
      },
      cancel() {
        leave();
        incoming.on('error', () => undefined);
        incoming.resume();
      },
    },
    { highWaterMark: 0 },
  );
}
