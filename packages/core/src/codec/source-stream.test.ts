import { afterEach, describe, expect, it, vi } from 'vitest';
import { allOf } from '../../test/all-of.ts';
import { runInput } from '../../test/run-input.ts';
import { coalesce } from './coalesce.ts';
import { compose, type Codec } from './codec.ts';
import type { AgentEvent } from '../event/event.ts';
import { seal } from './seal.ts';
import { sourceStream } from './source-stream.ts';
import { toReadableStream } from '../stream/to-readable-stream.ts';

/** Words as text, `.` as the end, `!` as a throw, anything empty as a mere sign of life. */
function words(): Codec<string, AgentEvent> {
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
    words(),
    seal(runInput(), () => {}),
  );

type Cancel = (reason?: unknown) => void;
/** A stream that gives what it is told to, and counts what happens to it. */
function wire(): { stream: ReadableStream<string>; say(word: string): void; cancel: ReturnType<typeof vi.fn<Cancel>> } {
  const cancel = vi.fn<Cancel>();
  let controller: ReadableStreamDefaultController<string> | undefined;
  const stream = new ReadableStream<string>({ start: (given) => void (controller = given), cancel });
  return { stream, say: (word) => controller?.enqueue(word), cancel };
}

const textOf = (events: AgentEvent[]): string =>
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
    const events = await allOf(sourceStream<string>(input(), sealed()));
    expect(events.map(({ type }) => type)).toEqual(['run-start', 'text-start', 'text-delta', 'text-end', 'run-end']);
    expect(events.at(-1)).toMatchObject({ outcome: 'complete' });
  });

  it('says that the run has started before it reads anything', async () => {
    const open = vi.fn<() => ReadableStream<string>>(() => wire().stream);
    const reader = sourceStream(open, sealed()).getReader();
    expect((await reader.read()).value).toMatchObject({ type: 'run-start' });
    expect(open).not.toHaveBeenCalled();
    await reader.cancel();
  });

  it('ends a run whose input was cut', async () => {
    const events = await allOf(sourceStream(toReadableStream(['Hello']), sealed()));
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
  ])('ends the run where %s', async (_, input, message) => {
    const events = await allOf(sourceStream<string>(input(), sealed()));
    expect(events.map(({ type }) => type)).toEqual(['run-start', 'run-end']);
    expect(events.at(-1)).toMatchObject({ outcome: 'error', error: { message: expect.stringContaining(message) } });
  });

  it('ends the run where the codec cannot even end', async () => {
    const codec: Codec<string, AgentEvent> = {
      feed() {},
      end() {
        throw new Error('stuck');
      },
    };
    expect(await allOf(sourceStream(toReadableStream(['a']), codec, { now: () => 7 }))).toEqual([
      { type: 'run-end', outcome: 'error', error: { message: 'stuck', code: 'codec' }, at: 7 },
    ]);
  });

  it('ends the run where flushing throws', async () => {
    const codec = {
      ...sealed(),
      flush: () => {
        throw new Error('stuck');
      },
    };
    expect((await allOf(sourceStream(toReadableStream(['a']), codec))).at(-1)).toMatchObject({
      error: { message: 'stuck' },
    });
  });

  it('hangs up on a server that never does, as soon as the run has ended', async () => {
    const { stream, say, cancel } = wire();
    say('Hello');
    say('.');
    say('late');
    const events = await allOf(sourceStream(stream, sealed()));
    expect(textOf(events)).toBe('Hello');
    expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
    expect(cancel).toHaveBeenCalledTimes(1);
  });

  it('tells the codec the end exactly once', async () => {
    const codec = sealed();
    const end = vi.spyOn(codec, 'end');
    await allOf(sourceStream(toReadableStream(['Hello', '.']), codec));
    expect(end).toHaveBeenCalledTimes(1);
  });

  describe('back-pressure', () => {
    it('reads no further than it is read', async () => {
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
        // One word makes three events, and nothing is fetched ahead.
        expect(read).toBeLessThanOrEqual(Math.ceil(event / 3));
      }
      expect(read).toBe(100);
      await reader.cancel();
    });
  });

  describe('cancel', () => {
    it('reaches the input once, and leaves nothing running', async () => {
      vi.useFakeTimers();
      const { stream, say, cancel } = wire();
      const signal = new AbortController().signal;
      const remove = vi.spyOn(signal, 'removeEventListener');
      const output = sourceStream(stream, sealed(), { signal, idleMs: 100, flushMs: 10, drainMs: 100 });
      const reader = output.getReader();
      say('Hello');
      for (let event = 0; event < 4; event += 1) await reader.read();
      const pending = reader.read();
      await Promise.all([reader.cancel('enough'), reader.cancel('again')]);
      expect((await pending).done).toBe(true);
      expect(cancel).toHaveBeenCalledExactlyOnceWith('enough');
      expect(vi.getTimerCount()).toBe(0);
      expect(remove).toHaveBeenCalledTimes(1);
    });

    it('returns the iterator, also one that is stuck', async () => {
      const back = vi.fn<(reason?: unknown) => Promise<IteratorResult<string>>>(() => new Promise(() => {}));
      const stuck = { next: () => new Promise<IteratorResult<string>>(() => {}), return: back };
      const reader = sourceStream({ [Symbol.asyncIterator]: () => stuck }, sealed()).getReader();
      await reader.read();
      void reader.read();
      await settle();
      await reader.cancel('enough');
      expect(back).toHaveBeenCalledExactlyOnceWith('enough');
    });

    it('survives a codec that throws at the end', async () => {
      const codec: Codec<string, AgentEvent> = {
        feed() {},
        end() {
          throw new Error('stuck');
        },
      };
      await expect(sourceStream(wire().stream, codec).cancel()).resolves.toBeUndefined();
    });
  });

  describe('signal', () => {
    it('stops a silent run at once, and says who did', async () => {
      const { stream, say, cancel } = wire();
      const stop = new AbortController();
      const reading = allOf(sourceStream(stream, sealed(), { signal: stop.signal }));
      say('Hello');
      await settle();
      stop.abort({ by: 'system', message: 'shutdown' });
      const events = await reading;
      expect(textOf(events)).toBe('Hello');
      expect(events.at(-1)).toMatchObject({ outcome: 'aborted', by: 'system', reason: 'shutdown' });
      expect(cancel).toHaveBeenCalledTimes(1);
    });

    it('does not even begin where it is aborted already', async () => {
      const open = vi.fn<() => ReadableStream<string>>();
      const events = await allOf(sourceStream(open, sealed(), { signal: AbortSignal.abort(), drainMs: 1000 }));
      expect(events.map(({ type }) => type)).toEqual(['run-start', 'run-end']);
      expect(events.at(-1)).toMatchObject({ outcome: 'aborted', by: 'user' });
      expect(open).not.toHaveBeenCalled();
    });

    it('is the cause of the failure that it causes', async () => {
      const stop = new AbortController();
      const input = (): ReadableStream<string> =>
        new ReadableStream({
          start: (controller) => stop.signal.addEventListener('abort', () => controller.error(stop.signal.reason)),
        });
      const reading = allOf(sourceStream(input, sealed(), { signal: stop.signal, drainMs: 1000 }));
      await settle();
      stop.abort();
      expect((await reading).at(-1)).toMatchObject({ outcome: 'aborted', by: 'user' });
    });

    it('leaves time for last words', async () => {
      vi.useFakeTimers();
      const { stream, say, cancel } = wire();
      const stop = new AbortController();
      const reading = allOf(sourceStream(stream, sealed(), { signal: stop.signal, drainMs: 1000 }));
      stop.abort();
      await vi.advanceTimersByTimeAsync(500);
      say('Goodbye');
      await vi.advanceTimersByTimeAsync(499);
      expect(cancel).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      const events = await reading;
      expect(textOf(events)).toBe('Goodbye');
      expect(events.at(-1)).toMatchObject({ outcome: 'aborted' });
      expect(cancel).toHaveBeenCalledTimes(1);
      expect(vi.getTimerCount()).toBe(0);
    });

    it("takes the source's own end while it drains", async () => {
      vi.useFakeTimers();
      const { stream, say } = wire();
      const stop = new AbortController();
      const reading = allOf(sourceStream(stream, sealed(), { signal: stop.signal, drainMs: 1000 }));
      stop.abort();
      say('.');
      expect((await reading).at(-1)).toMatchObject({ outcome: 'complete' });
      expect(vi.getTimerCount()).toBe(0);
    });
  });

  describe('idleMs', () => {
    it('ends a run whose source falls silent; every item is life', async () => {
      vi.useFakeTimers();
      const { stream, say, cancel } = wire();
      const reading = allOf(sourceStream(stream, sealed(), { idleMs: 100 }));
      for (let ping = 0; ping < 5; ping += 1) {
        await vi.advanceTimersByTimeAsync(99);
        say('');
      }
      expect(cancel).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(100);
      expect((await reading).at(-1)).toMatchObject({ outcome: 'error', error: { code: 'idle' } });
      expect(cancel).toHaveBeenCalledTimes(1);
      expect(vi.getTimerCount()).toBe(0);
    });

    it('does not blame the source for a slow reader', async () => {
      vi.useFakeTimers();
      const reader = sourceStream(toReadableStream(['Hello', 'again']), sealed(), { idleMs: 100 }).getReader();
      for (let event = 0; event < 4; event += 1) await reader.read();
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await reader.read()).value).toMatchObject({ type: 'text-start' });
      await reader.cancel();
    });

    it('covers the opening', async () => {
      vi.useFakeTimers();
      let signal: AbortSignal | undefined;
      const open = (given: AbortSignal): Promise<ReadableStream<string>> => {
        signal = given;
        return new Promise(() => {});
      };
      const reading = allOf(sourceStream(open, sealed(), { idleMs: 100 }));
      await vi.advanceTimersByTimeAsync(100);
      expect((await reading).at(-1)).toMatchObject({ error: { code: 'idle' } });
      expect(signal?.aborted).toBe(true);
    });
  });

  it('lets go of what is held after flushMs', async () => {
    vi.useFakeTimers();
    const { stream, say } = wire();
    const deltas: Codec<string, AgentEvent> = {
      feed: (delta, emit) => emit({ type: 'text-delta', id: 'a', delta }),
      end() {},
    };
    const output = sourceStream(stream, compose(deltas, coalesce()), { flushMs: 40 });
    const seen: AgentEvent[] = [];
    void output.pipeTo(new WritableStream({ write: (event) => void seen.push(event) }));
    say('a');
    await vi.advanceTimersByTimeAsync(39);
    say('b');
    await vi.advanceTimersByTimeAsync(0);
    expect(seen).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(seen).toEqual([{ type: 'text-delta', id: 'a', delta: 'ab' }]);
    say('c');
    await vi.advanceTimersByTimeAsync(40);
    expect(textOf(seen)).toBe('ab c');
  });

  it('gives a time to all but deltas, and keeps the one that they have', async () => {
    const input = toReadableStream<AgentEvent>([
      { type: 'text-start', id: 'a' },
      { type: 'text-delta', id: 'a', delta: 'x' },
      { type: 'text-end', id: 'a', at: 5 },
    ]);
    const pass: Codec<AgentEvent, AgentEvent> = { feed: (event, emit) => emit(event), end() {} };
    const events = await allOf(sourceStream(input, pass, { now: () => 42 }));
    expect(events.map(({ at }) => at)).toEqual([42, undefined, 5]);
  });

  it('keeps the frames where asked to, and names them in the events', async () => {
    const frames: string[] = [];
    const onFrame = (frame: string, index: number): void => void (frames[index] = frame);
    const events = await allOf(sourceStream(toReadableStream(['', 'Hello', '.']), sealed(), { onFrame }));
    expect(frames).toEqual(['', 'Hello', '.']);
    expect(events.map(({ origin }) => origin)).toEqual([undefined, 1, 1, 1, 2]);
  });
});
