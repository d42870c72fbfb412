import type { UIMessageChunk } from 'ai';
import { describe, expect, it } from 'vitest';
import { mergeDeltas } from './merge-deltas.ts';

const delta = (id: string, text: string): UIMessageChunk => ({ type: 'text-delta', id, delta: text });
const end = (id: string): UIMessageChunk => ({ type: 'text-end', id });

/** A stream that gives these at once, and then ends or fails. */
function given(chunks: UIMessageChunk[], failure?: Error): ReadableStream<UIMessageChunk> {
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
  it('puts together what comes faster than it is shown, each part by itself', async () => {
    const stream = given([
      delta('a', '1'),
      delta('b', '2'),
      delta('a', '3'),
      delta('b', '4'),
      end('a'),
      delta('b', '5'),
    ]);
    const { chunks } = await read(mergeDeltas(stream, 10_000));
    // The first passes at once; whatever is no delta comes after all that came before it.
    expect(chunks).toEqual([delta('a', '1'), delta('b', '24'), delta('a', '3'), end('a'), delta('b', '5')]);
  });

  it('tells what it holds in time, though nothing else comes', async () => {
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

  it('loses nothing of a stream that breaks off', async () => {
    const failure = new TypeError('network error');
    const { chunks, error } = await read(mergeDeltas(given([delta('a', '1'), delta('a', '2')], failure), 10_000));
    expect(chunks).toEqual([delta('a', '1'), delta('a', '2')]);
    expect(error).toBe(failure);
  });

  it('leaves alone what says more than words', async () => {
    const signed: UIMessageChunk = { ...(delta('a', '2') as object), providerMetadata: { p: { s: 1 } } } as never;
    const { chunks } = await read(mergeDeltas(given([delta('a', '1'), signed, delta('a', '3')]), 10_000));
    expect(chunks).toEqual([delta('a', '1'), signed, delta('a', '3')]);
  });
});
