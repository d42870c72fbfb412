import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readAll } from '../../test/read-all.ts';
import { playTape } from './play-tape.ts';
import type { Tape } from './tape.ts';

const tape: Tape<string> = {
  header: { tape: 1, dialect: 'x' },
  items: [
    { t: 100, item: 'a' },
    { t: 100, item: 'b' },
    { t: 400, item: 'c' },
  ],
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  // Spies first: restoring one after the clock would put the fake timer back.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function playAt(speed: number): Promise<string[]> {
  const startedAt = Date.now();
  const seen: string[] = [];
  const playing = playTape(tape, { speed }).pipeTo(
    new WritableStream({ write: (item) => void seen.push(`${Date.now() - startedAt}${item}`) }),
  );
  await vi.runAllTimersAsync();
  await playing;
  return seen;
}

describe('playTape', () => {
  it('scales the recorded times by the speed', async () => {
    expect(await playAt(1)).toEqual(['100a', '100b', '400c']);
    expect(await playAt(2)).toEqual(['50a', '50b', '200c']);
    expect(await playAt(0.5)).toEqual(['200a', '200b', '800c']);
  });

  it('plays at infinite speed without a timer', async () => {
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    expect(await readAll(playTape(tape, { speed: Infinity }))).toEqual(['a', 'b', 'c']);
    expect(setTimer).not.toHaveBeenCalled();
  });

  it('clears its timer when it is cancelled', async () => {
    const reader = playTape(tape).getReader();
    const reading = reader.read();
    await vi.advanceTimersByTimeAsync(50);
    expect(vi.getTimerCount()).toBe(1);
    await reader.cancel();
    expect((await reading).done).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('emits due items to a late reader without waiting', async () => {
    const reader = playTape(tape).getReader();
    const first = reader.read();
    await vi.advanceTimersByTimeAsync(1000);
    expect([(await first).value, (await reader.read()).value, (await reader.read()).value]).toEqual(['a', 'b', 'c']);
  });

  it('waits longer than the maximum delay of a timer', async () => {
    const month = 30 * 24 * 60 * 60 * 1000;
    const reader = playTape({ ...tape, items: [{ t: month, item: 'late' }] }).getReader();
    let received: string | undefined;
    const reading = reader.read().then(({ value }) => (received = value));
    await vi.advanceTimersByTimeAsync(month - 1);
    expect(received).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(await reading).toBe('late');
  });

  it.each([0, -1, NaN])('rejects the speed %s', (speed) => {
    expect(() => playTape(tape, { speed })).toThrow(RangeError);
  });
});
