import { describe, expect, it, vi } from 'vitest';
import { readAll } from '../../test/read-all.ts';
import { toTransformStream } from './codec-stream.ts';
import type { Codec } from './codec.ts';
import { toReadableStream } from '../stream/to-readable-stream.ts';

function twice(): Codec<number, string> & { end: ReturnType<typeof vi.fn> } {
  return {
    feed(input, emit) {
      if (input < 0) throw new Error('negative');
      emit(`${input}a`);
      emit(`${input}b`);
    },
    end: vi.fn<Codec<number, string>['end']>((end, emit) => emit(end.reason)),
  };
}

describe('toTransformStream', () => {
  it('feeds and ends the codec', async () => {
    expect(await readAll(toReadableStream([1, 2]).pipeThrough(toTransformStream(twice())))).toEqual([
      '1a',
      '1b',
      '2a',
      '2b',
      'eof',
    ]);
  });

  it('cancels the source and does not end the codec when the reader cancels', async () => {
    const codec = twice();
    const cancel = vi.fn<(reason?: unknown) => void>();
    const source = new ReadableStream<number>({ pull: (controller) => controller.enqueue(1), cancel });
    const reader = source.pipeThrough(toTransformStream(codec)).getReader();
    await reader.read();
    await reader.cancel('enough');
    expect(codec.end).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(cancel).toHaveBeenCalledTimes(1));
  });

  it('passes an error of the input on and does not end the codec', async () => {
    const codec = twice();
    const { readable, writable } = toTransformStream(codec);
    const reading = readable.getReader().read();
    await writable.abort(new Error('broken'));
    await expect(reading).rejects.toThrow('broken');
    expect(codec.end).not.toHaveBeenCalled();
  });

  it('errors when the codec throws', async () => {
    await expect(readAll(toReadableStream([-1]).pipeThrough(toTransformStream(twice())))).rejects.toThrow('negative');
  });

  it('applies backpressure to the source', async () => {
    const pull = vi.fn<(controller: ReadableStreamDefaultController<number>) => void>((controller) =>
      controller.enqueue(1),
    );
    const source = new ReadableStream<number>({ pull }, { highWaterMark: 0 });
    const reader = source.pipeThrough(toTransformStream(twice())).getReader();
    await reader.read();
    await new Promise((resolve) => setTimeout(resolve));
    expect(pull.mock.calls.length).toBeLessThanOrEqual(3);
    await reader.cancel();
  });
});
