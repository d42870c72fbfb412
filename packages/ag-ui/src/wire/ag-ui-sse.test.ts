import { toReadableStream } from '@intertie/core';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { toAGUIFrame, writeAGUISSE } from '../index.ts';

const event = (value: unknown): AGUIEvent => ({ type: 'CUSTOM', name: 'acme.n', value });
const comment = ': keep-alive\n\n';

/** Creates a stream whose events are emitted by the test. */
function controlled(): {
  events: ReadableStream<AGUIEvent>;
  send(event: AGUIEvent): void;
  end(): void;
  left: unknown[];
} {
  let controller!: ReadableStreamDefaultController<AGUIEvent>;
  const left: unknown[] = [];
  const events = new ReadableStream<AGUIEvent>({
    start: (own) => void (controller = own),
    cancel: (reason) => void left.push(reason),
  });
  return { events, send: (one) => controller.enqueue(one), end: () => controller.close(), left };
}

function textReader(bytes: ReadableStream<Uint8Array>): {
  read(): Promise<string | undefined>;
  cancel(): Promise<void>;
} {
  const reader = bytes.getReader();
  const decoder = new TextDecoder();
  return {
    async read() {
      const { done, value } = await reader.read();
      return done ? undefined : decoder.decode(value);
    },
    cancel: () => reader.cancel('gone'),
  };
}

describe('a frame', () => {
  it('writes any event as one line that ends with LF', () => {
    const frame = toAGUIFrame(event('a\r\nb\u2028'));
    expect(frame).toMatch(/^data: [^\r\n]*\n\n$/);
    expect(JSON.parse(frame.slice(6))).toEqual(event('a\r\nb\u2028'));
    expect(JSON.parse(toAGUIFrame(event({ big: 1n })).slice(6))).toEqual(event({ big: '1' }));
  });
});

describe('a chunk', () => {
  it('joins the frames of all events that are available at once', async () => {
    const { events, send, end } = controlled();
    const reader = textReader(writeAGUISSE(events));
    send(event(1));
    send(event(2));
    expect(await reader.read()).toBe(toAGUIFrame(event(1)) + toAGUIFrame(event(2)));
    send(event(3));
    expect(await reader.read()).toBe(toAGUIFrame(event(3)));
    send(event(4));
    end();
    expect([await reader.read(), await reader.read()]).toEqual([toAGUIFrame(event(4)), undefined]);
  });

  it('writes all frames, wherever chunks are split', async () => {
    const character = fc.constantFrom('a', ' ', '\n', '"', '\\', '\u0001', 'é', '\u2028', '你', '😀', '\ud800');
    const value = fc.oneof(fc.string({ unit: character }), fc.constantFrom('long '.repeat(1000), '你'.repeat(20_000)));
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 30 }), async (values) => {
        const events = values.map(event);
        const text = await new Response(writeAGUISSE(toReadableStream(events))).text();
        expect(text).toBe(events.map(toAGUIFrame).join(''));
      }),
      { numRuns: 100 },
    );
  });
});

describe('keep-alive comments', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => vi.useRealTimers());

  it('sends keep-alive comments only after an interval without events', async () => {
    const { events, send, end } = controlled();
    const reader = textReader(writeAGUISSE(events, { keepAliveMs: 1000 }));
    send(event(1));
    expect(await reader.read()).toBe(toAGUIFrame(event(1)));
    const next = reader.read();
    // There was an event in this interval.
    await vi.advanceTimersByTimeAsync(1000);
    send(event(2));
    expect(await next).toBe(toAGUIFrame(event(2)));
    const silent = reader.read();
    await vi.advanceTimersByTimeAsync(2000);
    expect(await silent).toBe(comment);
    end();
    let last = await reader.read();
    while (last === comment) last = await reader.read();
    expect(last).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not queue keep-alive comments without a reader and stops when the reader cancels', async () => {
    const { events, left } = controlled();
    const bytes = writeAGUISSE(events, { keepAliveMs: 1000 });
    await vi.advanceTimersByTimeAsync(60_000);
    const reader = textReader(bytes);
    expect(await reader.read()).toBe(comment);
    let hasMore = false;
    void reader.read().then((piece) => void (hasMore = piece !== undefined));
    await vi.advanceTimersByTimeAsync(1);
    await reader.cancel();
    expect(hasMore).toBe(false);
    expect([left, vi.getTimerCount()]).toEqual([['gone'], 0]);
  });

  it('sends no keep-alive comments by default', async () => {
    const reader = textReader(writeAGUISSE(toReadableStream([event(1)])));
    expect(vi.getTimerCount()).toBe(0);
    expect([await reader.read(), await reader.read()]).toEqual([toAGUIFrame(event(1)), undefined]);
  });
});
