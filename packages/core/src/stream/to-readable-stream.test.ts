import { describe, expect, it, vi } from 'vitest';
import { allOf } from '../../test/all-of.ts';
import { toReadableStream } from './to-readable-stream.ts';

describe('toReadableStream', () => {
  it('gives every item of an iterable, and of an async one', async () => {
    async function* count(): AsyncGenerator<number> {
      yield 1;
      yield 2;
    }
    expect(await allOf(toReadableStream(count()))).toEqual([1, 2]);
    expect(await allOf(toReadableStream(new Set([1, 2])))).toEqual([1, 2]);
  });

  it('asks for an item only when it is asked for one', async () => {
    const next = vi.fn<() => IteratorResult<number>>(() => ({ done: false, value: 1 }));
    const reader = toReadableStream({ [Symbol.iterator]: () => ({ next }) }).getReader();
    expect(next).toHaveBeenCalledTimes(0);
    await reader.read();
    await reader.read();
    expect(next).toHaveBeenCalledTimes(2);
  });

  it('tells the iterable when the reader leaves', async () => {
    const left = vi.fn<() => void>();
    async function* count(): AsyncGenerator<number> {
      try {
        for (let at = 0; ; at += 1) yield at;
      } finally {
        left();
      }
    }
    const reader = toReadableStream(count()).getReader();
    await reader.read();
    await reader.cancel();
    expect(left).toHaveBeenCalledTimes(1);
  });

  it('errors as the iterable does', async () => {
    async function* fail(): AsyncGenerator<number> {
      yield 1;
      throw new Error('broken');
    }
    const reader = toReadableStream(fail()).getReader();
    await reader.read();
    await expect(reader.read()).rejects.toThrow('broken');
  });
});
