import { describe, expect, it, vi } from 'vitest';
import { iterate } from './iterate.ts';
import { toReadableStream } from './to-readable-stream.ts';

describe('iterate', () => {
  it('yields every item and releases the stream', async () => {
    const stream = toReadableStream([1, 2, 3]);
    const items: number[] = [];
    for await (const item of iterate(stream)) items.push(item);
    expect(items).toEqual([1, 2, 3]);
    expect(stream.locked).toBe(false);
  });

  it('cancels the stream when the loop is left', async () => {
    const cancel = vi.fn<(reason?: unknown) => void>();
    const stream = new ReadableStream<number>({ pull: (controller) => controller.enqueue(1), cancel });
    for await (const _ of iterate(stream)) break;
    expect(cancel).toHaveBeenCalledTimes(1);
    expect(stream.locked).toBe(false);
  });

  it('cancels the stream during a pending read', async () => {
    const cancel = vi.fn<(reason?: unknown) => void>();
    const iterator = iterate(new ReadableStream<number>({ cancel }));
    const reading = iterator.next();
    await iterator.return?.('enough');
    expect(cancel).toHaveBeenCalledExactlyOnceWith('enough');
    expect(await reading).toEqual({ done: true, value: undefined });
  });

  it('stays done and cancels only once after a return', async () => {
    const cancel = vi.fn<(reason?: unknown) => void>();
    const iterator = iterate(new ReadableStream<number>({ cancel }));
    await Promise.all([iterator.return?.(), iterator.return?.()]);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(cancel).toHaveBeenCalledTimes(1);
  });

  it('throws the error of the stream and releases it', async () => {
    const stream = new ReadableStream<number>({ pull: () => Promise.reject(new Error('broken')) });
    await expect(iterate(stream).next()).rejects.toThrow('broken');
    expect(stream.locked).toBe(false);
  });
});
