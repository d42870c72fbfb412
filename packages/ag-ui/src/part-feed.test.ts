import { describe, expect, it } from 'vitest';
import { frameEvents } from '../test/frame-events.ts';
import { AgentsToAGUIAdapter } from './agents-to-ag-ui-adapter.ts';
import type { AGUIEvent } from './ag-ui-event.ts';
import { toAGUIResponse } from './to-ag-ui-response.ts';
import { toAGUI, type ToAGUIOptions } from './to-ag-ui.ts';

const said = [
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
/** Each door as whoever opens it reads it. */
const doors: Record<string, (fullStream: Parts, options?: Options) => Promise<AGUIEvent[]>> = {
  adapter: (fullStream, options) =>
    all(new AgentsToAGUIAdapter({ protocolVersion: '1.0', ...options }).adaptStreamToAGUI({ fullStream })),
  'toAGUI, iterated': (fullStream, options) => all(toAGUI({ fullStream }, { input, ...options })),
  'toAGUI, iterated, with a signal': (fullStream, options) =>
    all(toAGUI({ fullStream }, { input, ...options, signal: new AbortController().signal })),
  'toAGUI, read': async (fullStream, options) => {
    const events: AGUIEvent[] = [];
    const reader = toAGUI({ fullStream }, { input, ...options }).getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) events.push(read.value);
    return events;
  },
  bytes: async (fullStream, options) => {
    return frameEvents(await toAGUIResponse({ fullStream }, { input, ...options }).text());
  },
};

async function all(events: AsyncIterable<AGUIEvent>): Promise<AGUIEvent[]> {
  const list: AGUIEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

/** Parts whose `next` is this. */
function partsBy(next: () => unknown): Parts {
  return { [Symbol.asyncIterator]: () => ({ next }) } as Parts;
}

const wordsIn = (events: readonly AGUIEvent[]): string =>
  events.map((event) => ('delta' in event && typeof event.delta === 'string' ? event.delta : '')).join('');

describe.each(Object.entries(doors))('%s', (_door, read) => {
  it('takes parts that are there at once, without a promise, as a loop does', async () => {
    const list = said.values();
    const events = await read(partsBy(() => list.next()));
    expect(wordsIn(events)).toBe('One two three');
    expect(events.at(-1)?.type).toBe('RUN_FINISHED');
  });

  it.each([
    ['fails', () => Promise.reject(new Error('No more.'))],
    [
      'throws',
      () => {
        throw new Error('No more.');
      },
    ],
    ['gives what is no result', () => Promise.resolve(undefined)],
  ])('ends with an error where the source %s in the midst of words', async (_how, fail) => {
    const list = said.slice(0, 4).values();
    const events = await read(
      partsBy(() => {
        const result = list.next();
        return result.done ? fail() : Promise.resolve(result);
      }),
    );
    expect(wordsIn(events)).toBe('One');
    expect(events.filter(({ type }) => type === 'RUN_ERROR' || type === 'RUN_FINISHED')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: expect.any(String) as string });
  });

  it.each([
    ['is over', said],
    ['ends without a word', said.slice(0, 4)],
    [
      'has something that nobody knows',
      [...said.slice(0, 4), { type: 'text-delta', id: '2', text: 'Lost.' }, ...said.slice(4)],
    ],
  ])('ends, once, where the ledger throws and the source %s', async (_how, parts) => {
    const list = parts.values();
    const onLoss = (): never => {
      throw new Error('No losses.');
    };
    // A snapshot of a history that is not known is a loss, which is told at the end.
    const events = await read(
      partsBy(() => Promise.resolve(list.next())),
      { snapshot: true, onLoss },
    );
    expect(wordsIn(events)).toMatch(/^One/);
    const ends = events.filter(({ type }) => type === 'RUN_ERROR' || type === 'RUN_FINISHED');
    expect(ends).toEqual([events.at(-1)]);
  });
});
