import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AGUIEvent } from './ag-ui-event.ts';
import { toAGUI } from './to-ag-ui.ts';

const said = [
  { type: 'start' },
  // Signs of life say nothing: an answer is a promise of a promise then.
  ...Array.from({ length: 3 }, () => ({ type: 'ping' })),
  { type: 'start-step', request: {}, warnings: [] },
  { type: 'text-start', id: '1' },
  ...['One', ' two', ' three'].flatMap((text) => [
    { type: 'text-delta', id: '1', text },
    { type: 'ping' },
    { type: 'ping' },
  ]),
  { type: 'text-end', id: '1' },
  { type: 'finish-step', finishReason: 'stop', usage: {}, response: {} },
  { type: 'finish', finishReason: 'stop', totalUsage: {} },
];

async function* partsOf(parts: readonly object[]): AsyncGenerator<object> {
  for (const part of parts) yield part;
}

function generate(fullStream: AsyncIterable<unknown>, signal?: AbortSignal): AsyncIterableIterator<AGUIEvent> {
  const ids = { now: () => 0, generateId: () => 'id' };
  return toAGUI({ fullStream }, { protocolVersion: '1.0', ...ids, ...(signal && { signal }) })[Symbol.asyncIterator]();
}

describe('the generator of events', () => {
  const sources: Record<string, () => AsyncIterable<unknown>> = {
    'by and by': () => partsOf(said),
    'at once': () => {
      const parts = said.values();
      return { [Symbol.asyncIterator]: () => parts } as unknown as AsyncIterable<unknown>;
    },
  };
  const ways = Object.entries(sources).flatMap(([when, source]) => [
    { when, how: 'be stopped', source, signal: new AbortController().signal },
    { when, how: 'not be stopped', source, signal: undefined },
  ]);
  it.each(ways)(
    'answers those who ask at the same time in their order, of parts that come $when and can $how',
    async ({ source, signal }) => {
      const expected: AGUIEvent[] = [];
      for await (const event of generate(source(), signal)) expected.push(event);
      const events = generate(source(), signal);
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
      expect(await events.next()).toEqual({ done: true, value: undefined });
    },
  );

  it.each([undefined, new AbortController().signal])(
    'answers who asks while an answer is on its way after it, whenever that is',
    async (signal) => {
      const silence = Array.from({ length: 3 }, () => ({ type: 'ping' }));
      const words = ['One', ' two', ' three'].map((text) => ({ type: 'text-delta', id: '1', text }));
      const parts = [{ type: 'text-start', id: '1' }, ...words.slice(0, 1), ...silence, ...words.slice(1)];
      for (let turns = 0; turns < 40; turns++) {
        const events = generate(partsOf(parts), signal);
        for (let read = await events.next(); !JSON.stringify(read).includes('One');) read = await events.next();
        const answered: string[] = [];
        const one = events.next().then(() => answered.push('one'));
        for (let waited = 0; waited < turns; waited++) await Promise.resolve();
        const two = events.next().then(() => answered.push('two'));
        await Promise.all([one, two]);
        expect(answered, `${turns} turns`).toEqual(['one', 'two']);
        await events.return?.();
      }
    },
  );

  it('that is left while some wait tells all of them that it is over, as soon as the part comes', async () => {
    let onPart = (): void => undefined;
    const after = said.findIndex(({ type }) => type === 'text-delta') + 1;
    const parts = (async function* () {
      yield* said.slice(0, after);
      await new Promise<void>((resolve) => (onPart = resolve));
      yield* said.slice(after);
    })();
    const events = generate(parts);
    for (let read = await events.next(); !JSON.stringify(read).includes('One');) read = await events.next();
    const waiting = [events.next(), events.next(), events.next()];
    await turn();
    expect(await events.return?.()).toEqual({ done: true, value: undefined });
    onPart();
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ done: true, value: undefined })));
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });
});
