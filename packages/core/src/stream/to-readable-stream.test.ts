import { describe, expect, it, vi } from 'vitest';
import { readAll } from '../../test/read-all.ts';
import { toReadableStream } from './to-readable-stream.ts';

describe('toReadableStream', () => {
  it('emits every item of a sync or async iterable', async () => {
    async function* count(): AsyncGenerator<number> {
      yield 1;
      yield 2;
    }
    expect(await readAll(toReadableStream(count()))).toEqual([1, 2]);
    expect(await readAll(toReadableStream(new Set([1, 2])))).toEqual([1, 2]);
  });

  it('reads the iterable only on demand', async () => {
    const next = vi.fn<() => IteratorResult<number>>(() => ({ done: false, value: 1 }));
    const reader = toReadableStream({ [Symbol.iterator]: () => ({ next }) }).getReader();
    expect(next).toHaveBeenCalledTimes(0);
    await reader.read();
    await reader.read();
    expect(next).toHaveBeenCalledTimes(2);
  });

  it('closes the iterable when the reader cancels', async () => {
    const closed = vi.fn<() => void>();
    async function* count(): AsyncGenerator<number> {
      try {
        for (let at = 0; ; at += 1) yield at;
      } finally {
        closed();
      }
    }
    const reader = toReadableStream(count()).getReader();
    await reader.read();
    await reader.cancel();
    expect(closed).toHaveBeenCalledTimes(1);
  });

  it('errors when the iterable throws', async () => {
    async function* fail(): AsyncGenerator<number> {
      yield 1;
      throw new Error('broken');
    }
    const reader = toReadableStream(fail()).getReader();
    await reader.read();
    await expect(reader.read()).rejects.toThrow('broken');
  });
});
