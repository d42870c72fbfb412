import type { UIMessageChunk } from 'ai';
import { describe, expect, it } from 'vitest';
import { mergeDeltas } from './merge-deltas.ts';

const delta = (id: string, text: string): UIMessageChunk => ({ type: 'text-delta', id, delta: text });
const end = (id: string): UIMessageChunk => ({ type: 'text-end', id });

/** Stream that has all chunks available immediately, and then ends or fails. */
function createStream(chunks: UIMessageChunk[], failure?: Error): ReadableStream<UIMessageChunk> {
  const left = [...chunks];
  return new ReadableStream({
    pull(controller) {
      const chunk = left.shift();
      if (chunk !== undefined) controller.enqueue(chunk);
      else if (failure === undefined) controller.close();
      else controller.error(failure);
    },
  });
}

async function read(stream: ReadableStream<UIMessageChunk>): Promise<{ chunks: UIMessageChunk[]; error?: unknown }> {
  const chunks: UIMessageChunk[] = [];
  try {
    for await (const chunk of stream as unknown as AsyncIterable<UIMessageChunk>) chunks.push(chunk);
    return { chunks };
  } catch (error) {
    return { chunks, error };
  }
}

describe('mergeDeltas', () => {
  it('merges deltas that arrive faster than they are rendered, per part', async () => {
    const stream = createStream([
      delta('a', '1'),
      delta('b', '2'),
      delta('a', '3'),
      delta('b', '4'),
      end('a'),
      delta('b', '5'),
    ]);
    const { chunks } = await read(mergeDeltas(stream, 10_000));
    // The first chunk passes immediately. A chunk that is not a delta flushes all deltas before it.
    expect(chunks).toEqual([delta('a', '1'), delta('b', '24'), delta('a', '3'), end('a'), delta('b', '5')]);
  });

  it('flushes held deltas after the interval without further input', async () => {
    const silent = new ReadableStream<UIMessageChunk>({
      start(controller) {
        for (const text of ['1', '2', '3']) controller.enqueue(delta('a', text));
      },
    });
    const reader = mergeDeltas(silent, 5).getReader();
    expect((await reader.read()).value).toEqual(delta('a', '1'));
    expect((await reader.read()).value).toEqual(delta('a', '23'));
    await reader.cancel();
  });

  it('flushes held deltas before an error', async () => {
    const failure = new TypeError('network error');
    const { chunks, error } = await read(
      mergeDeltas(createStream([delta('a', '1'), delta('a', '2')], failure), 10_000),
    );
    expect(chunks).toEqual([delta('a', '1'), delta('a', '2')]);
    expect(error).toBe(failure);
  });

  it('does not merge deltas with provider metadata', async () => {
    const signed: UIMessageChunk = { ...(delta('a', '2') as object), providerMetadata: { p: { s: 1 } } } as never;
    const { chunks } = await read(mergeDeltas(createStream([delta('a', '1'), signed, delta('a', '3')]), 10_000));
    expect(chunks).toEqual([delta('a', '1'), signed, delta('a', '3')]);
  });
});
