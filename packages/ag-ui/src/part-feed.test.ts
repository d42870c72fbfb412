import { describe, expect, it } from 'vitest';
import { AgentsToAGUIAdapter } from './agents-to-ag-ui-adapter.ts';
import type { AGUIEvent } from './ag-ui-event.ts';
import { toAGUIResponse } from './to-ag-ui-response.ts';
import { toAGUI } from './to-ag-ui.ts';

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
/** Each door as whoever opens it reads it. */
const doors: Record<string, (fullStream: Parts) => Promise<AGUIEvent[]>> = {
  adapter: (fullStream) => all(new AgentsToAGUIAdapter({ protocolVersion: '1.0' }).adaptStreamToAGUI({ fullStream })),
  'toAGUI, iterated': (fullStream) => all(toAGUI({ fullStream }, { input })),
  'toAGUI, read': async (fullStream) => {
    const events: AGUIEvent[] = [];
    const reader = toAGUI({ fullStream }, { input }).getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) events.push(read.value);
    return events;
  },
  bytes: async (fullStream) => {
    const text = await toAGUIResponse({ fullStream }, { input }).text();
    const frames = text.split('\n\n').filter((frame) => frame !== '');
    return frames.map((frame) => JSON.parse(frame.replace('data: ', '')) as AGUIEvent);
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
});
