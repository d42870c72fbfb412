import { describe, expect, it, vi } from 'vitest';
import { readAll } from '../../test/read-all.ts';
import { pullStream } from './pull-stream.ts';

describe('pullStream', () => {
  it('pulls only when the stream is read', async () => {
    const pull = vi.fn<(emit: (item: number) => void) => boolean>((emit) => {
      emit(1);
      return true;
    });
    const reader = pullStream<number>({ pull }).getReader();
    await Promise.resolve();
    expect(pull).toHaveBeenCalledTimes(0);
    await reader.read();
    await reader.read();
    expect(pull).toHaveBeenCalledTimes(2);
  });

  it('keeps pulling until an item is emitted, and closes after the last item', async () => {
    let count = 0;
    const stream = pullStream<number>({
      pull: async (emit) => {
        count += 1;
        if (count % 3 === 0) emit(count);
        return count < 6;
      },
    });
    expect(await readAll(stream)).toEqual([3, 6]);
    expect(count).toBe(6);
  });

  it('emits items from start before the first pull', async () => {
    const stream = pullStream<number>({ start: (emit) => emit(1), pull: () => false });
    expect(await readAll(stream)).toEqual([1]);
  });

  it('cancels the source once and ignores items that are emitted afterwards', async () => {
    const cancel = vi.fn<(reason: unknown) => void>();
    let resume: () => void = () => undefined;
    const stream = pullStream<number>({
      async pull(emit) {
        await new Promise<void>((resolve) => void (resume = resolve));
        emit(1);
        return true;
      },
      cancel,
    });
    const reader = stream.getReader();
    const reading = reader.read();
    await reader.cancel('enough');
    resume();
    expect(await reading).toEqual({ done: true, value: undefined });
    await reader.cancel('again');
    expect(cancel).toHaveBeenCalledExactlyOnceWith('enough');
  });

  it('errors and cancels the source when a pull throws', async () => {
    const error = new Error('broken');
    const cancel = vi.fn<(reason: unknown) => Promise<void>>(async () => {
      throw new Error('cannot be cancelled');
    });
    const reader = pullStream<number>({ pull: () => Promise.reject(error), cancel }).getReader();
    await expect(reader.read()).rejects.toBe(error);
    expect(cancel).toHaveBeenCalledExactlyOnceWith(error);
  });

  it('errors a stream that nothing reads when fail is called', async () => {
    const cancel = vi.fn<(reason: unknown) => void>();
    let fail: (reason: unknown) => void = () => undefined;
    const stream = pullStream<number>({ start: (_emit, own) => void (fail = own), pull: () => true, cancel });
    const reader = stream.getReader();
    fail(new Error('cut'));
    fail(new Error('again'));
    await expect(reader.closed).rejects.toThrow('cut');
    expect(cancel).toHaveBeenCalledTimes(1);
  });

  it('does not cancel a source that has ended', async () => {
    const cancel = vi.fn<(reason: unknown) => void>();
    const stream = pullStream<number>({
      pull(emit) {
        emit(1);
        emit(2);
        return false;
      },
      cancel,
    });
    const reader = stream.getReader();
    await reader.read();
    await new Promise((resolve) => setTimeout(resolve));
    await reader.cancel();
    expect(cancel).toHaveBeenCalledTimes(0);
  });
});
