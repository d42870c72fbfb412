import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { OutputClosed } from './tool-error.ts';
import { nodeSink } from './tool-io.ts';

/** Stream that buffers one write, until it is released. */
function slow(): { stream: Writable; release: (error?: Error) => void } {
  const callbacks: Array<(error?: Error) => void> = [];
  const stream = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, callback) => void callbacks.push(callback),
  });
  return { stream, release: (error) => callbacks.shift()?.(error) };
}

it('waits for the drain event in every pending write', async () => {
  const { stream, release } = slow();
  const sink = nodeSink(stream);
  let done = 0;
  const writes = ['a', 'b'].map(async (text) => {
    await sink.write(text);
    done += 1;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toBe(0);
  release();
  release();
  await Promise.all(writes);
  expect(done).toBe(2);
});

it('rejects pending and later writes with OutputClosed after EPIPE', async () => {
  const { stream, release } = slow();
  const sink = nodeSink(stream);
  const write = Promise.resolve(sink.write('a'));
  release(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  await expect(write).rejects.toThrow(OutputClosed);
  expect(() => sink.write('b')).toThrow(OutputClosed);
});

it('rejects a write with other errors of the stream', async () => {
  const { stream, release } = slow();
  const write = Promise.resolve(nodeSink(stream).write('a'));
  release(Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
  await expect(write).rejects.toThrow('no space left');
});
