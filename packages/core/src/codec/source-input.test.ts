import { describe, expect, it, vi } from 'vitest';
import { readInput } from './source-input.ts';
import { toReadableStream } from '../stream/to-readable-stream.ts';

type Cancel = (reason?: unknown) => void;

describe('readInput', () => {
  it.each([
    ['a stream', () => toReadableStream([1])],
    ['an iterable', () => toReadableStream([1]).values()],
    ['a function', () => () => toReadableStream([1])],
    ['an async function', () => async () => toReadableStream([1])],
  ])('reads %s', async (_, input) => {
    const reader = readInput<number>(input());
    expect(await reader.read()).toEqual({ done: false, value: 1 });
    expect((await reader.read()).done).toBe(true);
  });

  it('cancels a stream that was never read', () => {
    const cancel = vi.fn<Cancel>();
    const reader = readInput(new ReadableStream({ cancel }));
    reader.cancel('enough');
    reader.cancel('again');
    expect(cancel).toHaveBeenCalledExactlyOnceWith('enough');
  });

  it('cancels a stream during a read', async () => {
    const cancel = vi.fn<Cancel>();
    const reader = readInput(new ReadableStream({ cancel }));
    const reading = reader.read();
    await Promise.resolve();
    reader.cancel('enough');
    expect(cancel).toHaveBeenCalledExactlyOnceWith('enough');
    expect((await reading).done).toBe(true);
  });

  it('does not open a cancelled input', () => {
    const open = vi.fn<() => ReadableStream>();
    readInput(open).cancel('enough');
    expect(open).not.toHaveBeenCalled();
  });

  it('aborts the opening, and cancels an input that opens afterwards', async () => {
    const cancel = vi.fn<Cancel>();
    let opened: (stream: ReadableStream) => void = () => {};
    let signal: AbortSignal | undefined;
    const reader = readInput((given) => {
      signal = given;
      return new Promise<ReadableStream>((resolve) => (opened = resolve));
    });
    const reading = reader.read();
    reader.cancel('enough');
    expect(signal?.reason).toBe('enough');
    opened(new ReadableStream({ cancel }));
    expect((await reading).done).toBe(true);
    expect(cancel).toHaveBeenCalledExactlyOnceWith('enough');
  });

  it('does not close an input that has ended', async () => {
    const back = vi.fn<() => Promise<IteratorResult<number>>>();
    const next = vi.fn<() => Promise<IteratorResult<number>>>(async () => ({ done: true, value: undefined }));
    const reader = readInput({ [Symbol.asyncIterator]: () => ({ next, return: back }) });
    await reader.read();
    reader.cancel('enough');
    expect(back).not.toHaveBeenCalled();
  });

  it('ignores an input that fails to close', async () => {
    const failing = (): Promise<IteratorResult<number>> => Promise.reject(new Error('will not stop'));
    const reader = readInput({ [Symbol.asyncIterator]: () => ({ next: failing, return: failing }) });
    reader.cancel('enough');
    await new Promise((resolve) => setTimeout(resolve));
    expect(readInput(() => Promise.reject(new Error('will not open'))).cancel('enough')).toBeUndefined();
  });
});
