import { afterEach, describe, expect, it, vi } from 'vitest';
import { readAll } from '../../test/read-all.ts';
import { runInput } from '../../test/run-input.ts';
import { coalesce } from './coalesce.ts';
import { compose, type Codec } from './codec.ts';
import type { AgentEvent } from '../event/event.ts';
import { seal } from './seal.ts';
import { sourceStream } from './source-stream.ts';
import { toReadableStream } from '../stream/to-readable-stream.ts';

/** Decodes a word to a text part, `.` to the end, `!` to an exception and an empty frame to nothing. */
function decodeWords(): Codec<string, AgentEvent> {
  let id = 0;
  return {
    feed(word, emit) {
      if (word === '!') throw new Error('bad word');
      if (word === '.') return emit({ type: 'run-end', outcome: 'complete' });
      if (word === '') return;
      id += 1;
      emit({ type: 'text-start', id: `${id}` });
      emit({ type: 'text-delta', id: `${id}`, delta: word });
      emit({ type: 'text-end', id: `${id}` });
    },
    end() {},
  };
}
const sealed = (): Codec<string, AgentEvent> =>
  compose(
    decodeWords(),
    seal(runInput(), () => {}),
  );

type Cancel = (reason?: unknown) => void;
/** Creates an input that a test writes to, and counts its cancellations. */
function createInput(): {
  stream: ReadableStream<string>;
  send(word: string): void;
  cancel: ReturnType<typeof vi.fn<Cancel>>;
} {
  const cancel = vi.fn<Cancel>();
  let controller: ReadableStreamDefaultController<string> | undefined;
  const stream = new ReadableStream<string>({ start: (given) => void (controller = given), cancel });
  return { stream, send: (word) => controller?.enqueue(word), cancel };
}

const getText = (events: AgentEvent[]): string =>
  events.flatMap((event) => (event.type === 'text-delta' ? [event.delta] : [])).join(' ');
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

afterEach(() => {
  vi.useRealTimers();
});

describe('sourceStream', () => {
  it.each([
    ['a stream', () => toReadableStream(['Hello', '.'])],
    ['an iterable', () => toReadableStream(['Hello', '.']).values()],
    ['a function', () => async () => toReadableStream(['Hello', '.'])],
  ])('reads %s', async (_, input) => {
    const events = await readAll(sourceStream<string>(input(), sealed()));
    expect(events.map(({ type }) => type)).toEqual(['run-start', 'text-start', 'text-delta', 'text-end', 'run-end']);
    expect(events.at(-1)).toMatchObject({ outcome: 'complete' });
  });

  it('emits run-start before it opens the input', async () => {
    const open = vi.fn<() => ReadableStream<string>>(() => createInput().stream);
    const reader = sourceStream(open, sealed()).getReader();
    expect((await reader.read()).value).toMatchObject({ type: 'run-start' });
    expect(open).not.toHaveBeenCalled();
    await reader.cancel();
  });

  it('ends the run as truncated when the input ends without run-end', async () => {
    const events = await readAll(sourceStream(toReadableStream(['Hello']), sealed()));
    expect(events.at(-1)).toMatchObject({ outcome: 'error', error: { code: 'truncated' } });
  });

  it.each([
    [
      'the input fails',
      () => new ReadableStream<string>({ pull: () => Promise.reject(new Error('socket')) }),
      'socket',
    ],
    ['the input cannot be opened', () => () => Promise.reject(new Error('refused')), 'refused'],
    [
      'opening throws',
      () => (): never => {
        throw new Error('no');
      },
      'no',
    ],
    ['the codec throws', () => toReadableStream(['!']), 'bad word'],
  ])('ends the run when %s', async (_, input, message) => {
    const events = await readAll(sourceStream<string>(input(), sealed()));
    expect(events.map(({ type }) => type)).toEqual(['run-start', 'run-end']);
    expect(events.at(-1)).toMatchObject({ outcome: 'error', error: { message: expect.stringContaining(message) } });
  });

  it('ends the run when the end of the codec throws', async () => {
    const codec: Codec<string, AgentEvent> = {
      feed() {},
      end() {
        throw new Error('stuck');
      },
    };
    expect(await readAll(sourceStream(toReadableStream(['a']), codec, { now: () => 7 }))).toEqual([
      { type: 'run-end', outcome: 'error', error: { message: 'stuck', code: 'codec' }, at: 7 },
    ]);
  });

  it('ends the run when the flush of the codec throws', async () => {
    const codec = {
      ...sealed(),
      flush: () => {
        throw new Error('stuck');
      },
    };
    expect((await readAll(sourceStream(toReadableStream(['a']), codec))).at(-1)).toMatchObject({
      error: { message: 'stuck' },
    });
  });

  it('cancels an input that stays open after run-end', async () => {
    const { stream, send, cancel } = createInput();
    send('Hello');
    send('.');
    send('late');
    const events = await readAll(sourceStream(stream, sealed()));
    expect(getText(events)).toBe('Hello');
    expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
    expect(cancel).toHaveBeenCalledTimes(1);
  });

  it('ends the codec exactly once', async () => {
    const codec = sealed();
    const end = vi.spyOn(codec, 'end');
    await readAll(sourceStream(toReadableStream(['Hello', '.']), codec));
    expect(end).toHaveBeenCalledTimes(1);
  });

  describe('backpressure', () => {
    it('reads the input only on demand', async () => {
      let read = 0;
      async function* endless(): AsyncGenerator<string> {
        for (;;) yield `${(read += 1)}`;
      }
      const reader = sourceStream(endless(), sealed()).getReader();
      await settle();
      expect(read).toBe(0);
      for (let event = 0; event < 1 + 3 * 100; event += 1) {
        await reader.read();
        await Promise.resolve();
        // One word makes three events, and no item is read ahead.
        expect(read).toBeLessThanOrEqual(Math.ceil(event / 3));
      }
      expect(read).toBe(100);
      await reader.cancel();
    });
  });

  describe('cancel', () => {
    it('cancels the input once and leaves no timer or listener', async () => {
      vi.useFakeTimers();
      const { stream, send, cancel } = createInput();
      const signal = new AbortController().signal;
      const remove = vi.spyOn(signal, 'removeEventListener');
      const output = sourceStream(stream, sealed(), { signal, idleMs: 100, flushMs: 10, drainMs: 100 });
      const reader = output.getReader();
      send('Hello');
      for (let event = 0; event < 4; event += 1) await reader.read();
      const pending = reader.read();
      await Promise.all([reader.cancel('enough'), reader.cancel('again')]);
      expect((await pending).done).toBe(true);
      expect(cancel).toHaveBeenCalledExactlyOnceWith('enough');
      expect(vi.getTimerCount()).toBe(0);
      expect(remove).toHaveBeenCalledTimes(1);
    });

    it('closes an iterator that never answers', async () => {
      const back = vi.fn<(reason?: unknown) => Promise<IteratorResult<string>>>(() => new Promise(() => {}));
      const stuck = { next: () => new Promise<IteratorResult<string>>(() => {}), return: back };
      const reader = sourceStream({ [Symbol.asyncIterator]: () => stuck }, sealed()).getReader();
      await reader.read();
      void reader.read();
      await settle();
      await reader.cancel('enough');
      expect(back).toHaveBeenCalledExactlyOnceWith('enough');
    });

    it('ignores an exception at the end of the codec', async () => {
      const codec: Codec<string, AgentEvent> = {
        feed() {},
        end() {
          throw new Error('stuck');
        },
      };
      await expect(sourceStream(createInput().stream, codec).cancel()).resolves.toBeUndefined();
    });
  });

  describe('signal', () => {
    it('stops a silent run immediately, with the reason of the signal', async () => {
      const { stream, send, cancel } = createInput();
      const stop = new AbortController();
      const reading = readAll(sourceStream(stream, sealed(), { signal: stop.signal }));
      send('Hello');
      await settle();
      stop.abort({ by: 'system', message: 'shutdown' });
      const events = await reading;
      expect(getText(events)).toBe('Hello');
      expect(events.at(-1)).toMatchObject({ outcome: 'aborted', by: 'system', reason: 'shutdown' });
      expect(cancel).toHaveBeenCalledTimes(1);
    });

    it('does not open the input if the signal is already aborted', async () => {
      const open = vi.fn<() => ReadableStream<string>>();
      const events = await readAll(sourceStream(open, sealed(), { signal: AbortSignal.abort(), drainMs: 1000 }));
      expect(events.map(({ type }) => type)).toEqual(['run-start', 'run-end']);
      expect(events.at(-1)).toMatchObject({ outcome: 'aborted', by: 'user' });
      expect(open).not.toHaveBeenCalled();
    });

    it('reports an abort when the abort makes the input fail', async () => {
      const stop = new AbortController();
      const input = (): ReadableStream<string> =>
        new ReadableStream({
          start: (controller) => stop.signal.addEventListener('abort', () => controller.error(stop.signal.reason)),
        });
      const reading = readAll(sourceStream(input, sealed(), { signal: stop.signal, drainMs: 1000 }));
      await settle();
      stop.abort();
      expect((await reading).at(-1)).toMatchObject({ outcome: 'aborted', by: 'user' });
    });

    it('reads the last events for drainMs after an abort', async () => {
      vi.useFakeTimers();
      const { stream, send, cancel } = createInput();
      const stop = new AbortController();
      const reading = readAll(sourceStream(stream, sealed(), { signal: stop.signal, drainMs: 1000 }));
      stop.abort();
      await vi.advanceTimersByTimeAsync(500);
      send('Goodbye');
      await vi.advanceTimersByTimeAsync(499);
      expect(cancel).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      const events = await reading;
      expect(getText(events)).toBe('Goodbye');
      expect(events.at(-1)).toMatchObject({ outcome: 'aborted' });
      expect(cancel).toHaveBeenCalledTimes(1);
      expect(vi.getTimerCount()).toBe(0);
    });

    it('accepts the run-end of the source while draining', async () => {
      vi.useFakeTimers();
      const { stream, send } = createInput();
      const stop = new AbortController();
      const reading = readAll(sourceStream(stream, sealed(), { signal: stop.signal, drainMs: 1000 }));
      stop.abort();
      send('.');
      expect((await reading).at(-1)).toMatchObject({ outcome: 'complete' });
      expect(vi.getTimerCount()).toBe(0);
    });
  });

  describe('idleMs', () => {
    it('ends a run whose source sends no item for idleMs', async () => {
      vi.useFakeTimers();
      const { stream, send, cancel } = createInput();
      const reading = readAll(sourceStream(stream, sealed(), { idleMs: 100 }));
      for (let ping = 0; ping < 5; ping += 1) {
        await vi.advanceTimersByTimeAsync(99);
        send('');
      }
      expect(cancel).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(100);
      expect((await reading).at(-1)).toMatchObject({ outcome: 'error', error: { code: 'idle' } });
      expect(cancel).toHaveBeenCalledTimes(1);
      expect(vi.getTimerCount()).toBe(0);
    });

    it('does not count the time of a slow reader', async () => {
      vi.useFakeTimers();
      const reader = sourceStream(toReadableStream(['Hello', 'again']), sealed(), { idleMs: 100 }).getReader();
      for (let event = 0; event < 4; event += 1) await reader.read();
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await reader.read()).value).toMatchObject({ type: 'text-start' });
      await reader.cancel();
    });

    it('limits the time to open the input', async () => {
      vi.useFakeTimers();
      let signal: AbortSignal | undefined;
      const open = (given: AbortSignal): Promise<ReadableStream<string>> => {
        signal = given;
        return new Promise(() => {});
      };
      const reading = readAll(sourceStream(open, sealed(), { idleMs: 100 }));
      await vi.advanceTimersByTimeAsync(100);
      expect((await reading).at(-1)).toMatchObject({ error: { code: 'idle' } });
      expect(signal?.aborted).toBe(true);
    });
  });

  it('flushes the codec after flushMs', async () => {
    vi.useFakeTimers();
    const { stream, send } = createInput();
    const deltas: Codec<string, AgentEvent> = {
      feed: (delta, emit) => emit({ type: 'text-delta', id: 'a', delta }),
      end() {},
    };
    const output = sourceStream(stream, compose(deltas, coalesce()), { flushMs: 40 });
    const seen: AgentEvent[] = [];
    void output.pipeTo(new WritableStream({ write: (event) => void seen.push(event) }));
    send('a');
    await vi.advanceTimersByTimeAsync(39);
    send('b');
    await vi.advanceTimersByTimeAsync(0);
    expect(seen).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(seen).toEqual([{ type: 'text-delta', id: 'a', delta: 'ab' }]);
    send('c');
    await vi.advanceTimersByTimeAsync(40);
    expect(getText(seen)).toBe('ab c');
  });

  it('adds a time to events without one, except deltas', async () => {
    const input = toReadableStream<AgentEvent>([
      { type: 'text-start', id: 'a' },
      { type: 'text-delta', id: 'a', delta: 'x' },
      { type: 'text-end', id: 'a', at: 5 },
    ]);
    const pass: Codec<AgentEvent, AgentEvent> = { feed: (event, emit) => emit(event), end() {} };
    const events = await readAll(sourceStream(input, pass, { now: () => 42 }));
    expect(events.map(({ at }) => at)).toEqual([42, undefined, 5]);
  });

  it('passes frames to onFrame and sets their index as origin', async () => {
    const frames: string[] = [];
    const onFrame = (frame: string, index: number): void => void (frames[index] = frame);
    const events = await readAll(sourceStream(toReadableStream(['', 'Hello', '.']), sealed(), { onFrame }));
    expect(frames).toEqual(['', 'Hello', '.']);
    expect(events.map(({ origin }) => origin)).toEqual([undefined, 1, 1, 1, 2]);
  });
});
