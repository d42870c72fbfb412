import { setImmediate as nextTask } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { frameEvents } from '../../test/frame-events.ts';
import { collect } from '../../test/scripted-model.ts';
import { AgentsToAGUIAdapter } from './agents-to-ag-ui-adapter.ts';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { toAGUIResponse } from './to-ag-ui-response.ts';
import { toAGUI, type ToAGUIOptions } from './to-ag-ui.ts';

const allParts = [
  { type: 'start' },
  { type: 'start-step', request: {}, warnings: [] },
  { type: 'text-start', id: '1' },
  ...['One', ' two', ' three'].map((text) => ({ type: 'text-delta', id: '1', text })),
  { type: 'text-end', id: '1' },
  { type: 'finish-step', finishReason: 'stop', usage: {}, response: {} },
  { type: 'finish', finishReason: 'stop', totalUsage: {} },
];
const input = { threadId: 'thread', runId: 'run', messages: [], protocolVersion: '1.0' };

type Parts = AsyncIterable<unknown>;
type Options = Pick<ToAGUIOptions, 'snapshot' | 'onLoss'>;

const entryPoints: Record<string, (fullStream: Parts, options?: Options) => Promise<AGUIEvent[]>> = {
  adapter: (fullStream, options) =>
    collect(new AgentsToAGUIAdapter({ protocolVersion: '1.0', ...options }).adaptStreamToAGUI({ fullStream })),
  'toAGUI, iterated': (fullStream, options) => collect(toAGUI({ fullStream }, { input, ...options })),
  'toAGUI, iterated, with a signal': (fullStream, options) =>
    collect(toAGUI({ fullStream }, { input, ...options, signal: new AbortController().signal })),
  'toAGUI, read': (fullStream, options) => readAll(toAGUI({ fullStream }, { input, ...options })),
  toAGUIResponse: async (fullStream, options) =>
    frameEvents(await toAGUIResponse({ fullStream }, { input, ...options }).text()),
};

async function readAll(stream: ReadableStream<AGUIEvent>): Promise<AGUIEvent[]> {
  const events: AGUIEvent[] = [];
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) events.push(read.value);
  reader.releaseLock();
  return events;
}

/** Creates parts with the given `next`. */
function partsBy(next: () => unknown): Parts {
  return { [Symbol.asyncIterator]: () => ({ next }) } as Parts;
}

/** Creates parts that record how many were read and how often they were cancelled. */
function recordedParts(): { seen: { pulled: number; cancelled: number }; fullStream: Parts } {
  const seen = { pulled: 0, cancelled: 0 };
  const list = allParts.values();
  const fullStream = {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        seen.pulled += 1;
        return list.next();
      },
      return: async () => {
        seen.cancelled += 1;
        return { done: true as const, value: undefined };
      },
    }),
  };
  return { seen, fullStream };
}

/** Creates parts that never arrive, and count how often they were cancelled. */
function pendingParts(): { seen: { cancelled: number }; fullStream: Parts } {
  const { seen, fullStream } = recordedParts();
  const next = () => new Promise<never>(() => undefined);
  return { seen, fullStream: { [Symbol.asyncIterator]: () => ({ ...fullStream[Symbol.asyncIterator](), next }) } };
}

const joinDeltas = (events: readonly AGUIEvent[]): string =>
  events.map((event) => ('delta' in event && typeof event.delta === 'string' ? event.delta : '')).join('');

describe.each(Object.entries(entryPoints))('%s', (_name, read) => {
  it('accepts an iterator whose next() returns results without a promise', async () => {
    const list = allParts.values();
    const events = await read(partsBy(() => list.next()));
    expect(joinDeltas(events)).toBe('One two three');
    expect(events.at(-1)?.type).toBe('RUN_FINISHED');
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('No more.'))],
    [
      'throws',
      () => {
        throw new Error('No more.');
      },
    ],
    ['resolves with undefined', () => Promise.resolve(undefined)],
  ])('ends with one error if next() %s between deltas', async (_how, fail) => {
    const list = allParts.slice(0, 4).values();
    const events = await read(
      partsBy(() => {
        const result = list.next();
        return result.done ? fail() : Promise.resolve(result);
      }),
    );
    expect(joinDeltas(events)).toBe('One');
    expect(events.filter(({ type }) => type === 'RUN_ERROR' || type === 'RUN_FINISHED')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: expect.any(String) as string });
  });

  it.each([
    ['is complete', allParts],
    ['is cut off', allParts.slice(0, 4)],
    [
      'has a delta of an unknown part',
      [...allParts.slice(0, 4), { type: 'text-delta', id: '2', text: 'Lost.' }, ...allParts.slice(4)],
    ],
  ])('ends exactly once if onLoss throws and the stream %s', async (_how, parts) => {
    const list = parts.values();
    const onLoss = (): never => {
      throw new Error('No losses.');
    };
    // A snapshot of an unknown history is a loss, reported at the end.
    const events = await read(
      partsBy(() => Promise.resolve(list.next())),
      { snapshot: true, onLoss },
    );
    expect(joinDeltas(events)).toMatch(/^One/);
    const ends = events.filter(({ type }) => type === 'RUN_ERROR' || type === 'RUN_FINISHED');
    expect(ends).toEqual([events.at(-1)]);
  });
});

describe('toAGUI', () => {
  const convert = (fullStream: Parts = recordedParts().fullStream): ReadableStream<AGUIEvent> =>
    toAGUI({ fullStream }, { input, now: () => 0, generateId: () => 'id' });

  it('emits the same events to a reader, an iterator and a tee', async () => {
    const read = await readAll(convert());
    expect(joinDeltas(read)).toBe('One two three');
    expect(await collect(convert())).toEqual(read);
    expect(await collect(convert().values())).toEqual(read);
    expect(await collect(convert().values({ preventCancel: true }))).toEqual(read);
    const [one, other] = convert().tee();
    expect(await Promise.all([collect(one), readAll(other)])).toEqual([read, read]);
  });

  it('locks the stream while it is iterated and closes it after the loop is left', async () => {
    const stream = convert();
    for await (const _ of stream) {
      expect(stream.locked).toBe(true);
      expect(() => stream.getReader()).toThrow(TypeError);
      expect(() => stream.values()).toThrow(TypeError);
      break;
    }
    expect(stream.locked).toBe(false);
    expect(await readAll(stream)).toEqual([]);
    expect(await collect(stream)).toEqual([]);
  });

  it('reads no part ahead of the consumer and cancels the parts when the loop is left', async () => {
    const { seen, fullStream } = recordedParts();
    for await (const event of convert(fullStream)) if (event.type === 'TEXT_MESSAGE_CONTENT') break;
    expect(seen).toEqual({ pulled: 4, cancelled: 1 });
  });

  it('continues an iteration where a reader stopped', async () => {
    const all = await readAll(convert());
    const stream = convert();
    const reader = stream.getReader();
    const first = [(await reader.read()).value, (await reader.read()).value];
    reader.releaseLock();
    expect([...first, ...(await collect(stream))]).toEqual(all);
  });

  it('cancels the parts once and emits nothing when it is cancelled before it was read', async () => {
    const { seen, fullStream } = recordedParts();
    const stream = convert(fullStream);
    await stream.cancel();
    expect(await collect(stream)).toEqual([]);
    expect(seen).toEqual({ pulled: 0, cancelled: 1 });
  });

  it('cancels the parts when the signal aborts before anything was read', async () => {
    const stop = new AbortController();
    const { seen, fullStream } = pendingParts();
    const stream = toAGUI({ fullStream }, { input, signal: stop.signal });
    stop.abort();
    expect(seen.cancelled).toBe(1);
    expect((await collect(stream)).map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED']);
  });

  it('answers concurrent next() calls in order', async () => {
    const expected = await collect(convert());
    const events = convert()[Symbol.asyncIterator]();
    const answered: number[] = [];
    const asked = Array.from({ length: expected.length + 2 }, async (_, place) => {
      const result = await events.next();
      answered.push(place);
      return result;
    });
    const results = await Promise.all(asked);
    expect(results.slice(0, -2)).toEqual(expected.map((value) => ({ done: false, value })));
    expect(results.slice(-2)).toEqual(Array.from({ length: 2 }, () => ({ done: true, value: undefined })));
    expect(answered).toEqual(answered.toSorted((a, b) => a - b));
  });

  it('resolves pending next() calls as done when the iterator is left during a read', async () => {
    const { seen, fullStream } = pendingParts();
    const events = convert(fullStream)[Symbol.asyncIterator]();
    await events.next();
    const pending = [events.next(), events.next(), events.next()];
    await nextTask();
    expect(await events.return?.()).toEqual({ done: true, value: undefined });
    expect(await Promise.all(pending)).toEqual(pending.map(() => ({ done: true, value: undefined })));
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect(seen.cancelled).toBe(1);
  });

  it('ends with an error if the stream of the result cannot be obtained', async () => {
    const result = {
      get fullStream(): never {
        throw new Error('Already consumed.');
      },
    };
    expect((await collect(toAGUI(result, { input }))).at(-1)).toMatchObject({
      type: 'RUN_ERROR',
      message: 'Already consumed.',
    });
  });
});

describe('the generator of AgentsToAGUIAdapter', () => {
  const adapt = (fullStream: Parts) => new AgentsToAGUIAdapter().adaptStreamToAGUI({ fullStream });

  it.each(['return', 'throw'] as const)('cancels the parts once when %s() is called before next()', async (method) => {
    const { seen, fullStream } = recordedParts();
    const events = adapt(fullStream);
    await events[method](undefined).catch(() => undefined);
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect(seen).toEqual({ pulled: 0, cancelled: 1 });
  });

  it('cancels the parts once when it is left during a read', async () => {
    const { seen, fullStream } = pendingParts();
    const events = adapt(fullStream);
    await events.next();
    const pending = events.next();
    await nextTask();
    await events.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(seen.cancelled).toBe(1);
  });

  it('cancels the parts once when the loop is left', async () => {
    const { seen, fullStream } = recordedParts();
    for await (const event of adapt(fullStream)) if (event.type === 'TEXT_MESSAGE_CHUNK') break;
    expect(seen).toEqual({ pulled: 4, cancelled: 1 });
  });
});
