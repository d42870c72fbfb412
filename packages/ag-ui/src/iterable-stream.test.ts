import { describe, expect, it } from 'vitest';
import type { AGUIEvent } from './ag-ui-event.ts';
import { toAGUI } from './to-ag-ui.ts';

const options = { threadId: 't', runId: 'r', protocolVersion: '1.0' };

/** One turn of three words, how many parts of it were asked for, and whether somebody left. */
function turn() {
  const seen = { pulled: 0, left: false };
  const parts = [
    { type: 'start' },
    { type: 'start-step', request: {}, warnings: [] },
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', text: 'one ' },
    { type: 'text-delta', id: '0', text: 'two ' },
    { type: 'text-delta', id: '0', text: 'three' },
    { type: 'text-end', id: '0' },
    { type: 'finish-step', finishReason: 'stop', usage: {}, response: {} },
    { type: 'finish', finishReason: 'stop', totalUsage: {} },
  ];
  const fullStream = (async function* () {
    try {
      for (const part of parts) {
        seen.pulled += 1;
        yield part;
      }
    } finally {
      seen.left = true;
    }
  })();
  return { seen, fullStream };
}

async function readAll(stream: ReadableStream<AGUIEvent>): Promise<AGUIEvent[]> {
  const events: AGUIEvent[] = [];
  const reader = stream.getReader();
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { done, value } = await reader.read();
    if (done) break;
    events.push(value);
  }
  reader.releaseLock();
  return events;
}

async function iterateAll(events: AsyncIterable<AGUIEvent>): Promise<AGUIEvent[]> {
  const all: AGUIEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('a stream that is iterated', () => {
  it('says what a reader of it is told', async () => {
    const read = await readAll(toAGUI(turn(), options));
    expect(read.map(({ type }) => type)).toContain('TEXT_MESSAGE_CONTENT');
    expect(await iterateAll(toAGUI(turn(), options))).toEqual(read);
    expect(await iterateAll(toAGUI(turn(), options).values())).toEqual(read);
    expect(await iterateAll(toAGUI(turn(), options).values({ preventCancel: true }))).toEqual(read);
    const [one, other] = toAGUI(turn(), options).tee();
    expect(await Promise.all([iterateAll(one), readAll(other)])).toEqual([read, read]);
  });

  it('is locked meanwhile, and closed when it was read', async () => {
    const stream = toAGUI(turn(), options);
    for await (const _ of stream) {
      expect(stream.locked).toBe(true);
      expect(() => stream.getReader()).toThrow(TypeError);
      expect(() => stream.values()).toThrow(TypeError);
      break;
    }
    expect(stream.locked).toBe(false);
    expect(await readAll(stream)).toEqual([]);
    expect(await iterateAll(stream)).toEqual([]);
  });

  it('reads no part that nobody asks for, and leaves them when it is left', async () => {
    const { seen, fullStream } = turn();
    for await (const event of toAGUI({ fullStream }, options)) {
      if (event.type === 'TEXT_MESSAGE_CONTENT') break;
    }
    expect(seen).toEqual({ pulled: 4, left: true });
  });

  it('goes on where a reader of it has stopped', async () => {
    const all = await readAll(toAGUI(turn(), options));
    const stream = toAGUI(turn(), options);
    const reader = stream.getReader();
    const first = [(await reader.read()).value, (await reader.read()).value];
    reader.releaseLock();
    expect([...first, ...(await iterateAll(stream))]).toEqual(all);
  });

  it('says nothing once it was cancelled, and reads nothing', async () => {
    const { seen, fullStream } = turn();
    const stream = toAGUI({ fullStream }, options);
    await stream.cancel();
    expect(await iterateAll(stream)).toEqual([]);
    expect(seen.pulled).toBe(0);
  });

  it('hears of a stop before anybody reads it', async () => {
    const stop = new AbortController();
    const seen = { left: false };
    const fullStream = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => undefined),
        return: async () => {
          seen.left = true;
          return { done: true as const, value: undefined };
        },
      }),
    };
    const stream = toAGUI({ fullStream }, { ...options, signal: stop.signal });
    stop.abort();
    expect(seen.left).toBe(true);
    const events = await iterateAll(stream);
    expect(events.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED']);
  });
});
