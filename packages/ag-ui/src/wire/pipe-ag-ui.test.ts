import { toReadableStream } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { pipeAGUI, type SocketLike } from './pipe-ag-ui.ts';

class FakeSocket extends EventTarget implements SocketLike {
  bufferedAmount = 0;
  sent: string[] = [];
  send(data: string): void {
    this.sent.push(data);
  }
}

const event = (value: unknown): AGUIEvent => ({ type: 'CUSTOM', name: 'n', value });

describe('pipeAGUI', () => {
  it('sends each event as one frame, even with values that JSON cannot represent', async () => {
    const socket = new FakeSocket();
    await pipeAGUI(socket, toReadableStream([event(1), event(2n)]));
    expect(socket.sent).toHaveLength(2);
    expect(JSON.parse(socket.sent[0]!)).toEqual(event(1));
  });

  it('sends the events of a generator and returns it when the socket closes', async () => {
    const socket = new FakeSocket();
    let isReturned = false;
    async function* events(): AsyncGenerator<AGUIEvent> {
      try {
        for (let value = 1; ; value += 1) {
          yield event(value);
          if (value === 3) socket.dispatchEvent(new Event('close'));
        }
      } finally {
        isReturned = true;
      }
    }
    await pipeAGUI(socket, events());
    expect([socket.sent.length, isReturned]).toEqual([3, true]);
  });

  it('pauses reading while the socket is full', async () => {
    const socket = new FakeSocket();
    socket.bufferedAmount = 11;
    let pulled = 0;
    const events = new ReadableStream<AGUIEvent>(
      { pull: (controller) => (pulled++ < 5 ? controller.enqueue(event(pulled)) : controller.close()) },
      { highWaterMark: 0 },
    );
    const piped = pipeAGUI(socket, events, { maxBuffered: 10, drainMs: 1 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect({ pulled, sent: socket.sent.length }).toEqual({ pulled: 1, sent: 0 });
    socket.bufferedAmount = 0;
    await piped;
    expect(socket.sent).toHaveLength(5);
  });

  it('cancels the run when the socket closes', async () => {
    const socket = new FakeSocket();
    let cancelled = false;
    const events = new ReadableStream<AGUIEvent>({ cancel: () => void (cancelled = true) });
    const piped = pipeAGUI(socket, events);
    socket.dispatchEvent(new Event('close'));
    await piped;
    expect(cancelled).toBe(true);
  });
});
