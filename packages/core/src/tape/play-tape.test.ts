import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { allOf } from '../../test/all-of.ts';
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

async function timesAt(speed: number): Promise<string[]> {
  const began = Date.now();
  const seen: string[] = [];
  const playing = playTape(tape, { speed }).pipeTo(
    new WritableStream({ write: (item) => void seen.push(`${Date.now() - began}${item}`) }),
  );
  await vi.runAllTimersAsync();
  await playing;
  return seen;
}

describe('playTape', () => {
  it('plays at any speed', async () => {
    expect(await timesAt(1)).toEqual(['100a', '100b', '400c']);
    expect(await timesAt(2)).toEqual(['50a', '50b', '200c']);
    expect(await timesAt(0.5)).toEqual(['200a', '200b', '800c']);
  });

  it('plays at once without a timer', async () => {
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    expect(await allOf(playTape(tape, { speed: Infinity }))).toEqual(['a', 'b', 'c']);
    expect(setTimer).not.toHaveBeenCalled();
  });

  it('stops the clock when cancelled', async () => {
    const reader = playTape(tape).getReader();
    const reading = reader.read();
    await vi.advanceTimersByTimeAsync(50);
    expect(vi.getTimerCount()).toBe(1);
    await reader.cancel();
    expect((await reading).done).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not make a late reader wait', async () => {
    const reader = playTape(tape).getReader();
    const first = reader.read();
    await vi.advanceTimersByTimeAsync(1000);
    expect([(await first).value, (await reader.read()).value, (await reader.read()).value]).toEqual(['a', 'b', 'c']);
  });

  it('waits longer than a timer can', async () => {
    const month = 30 * 24 * 60 * 60 * 1000;
    const reader = playTape({ ...tape, items: [{ t: month, item: 'late' }] }).getReader();
    let said: string | undefined;
    const reading = reader.read().then(({ value }) => (said = value));
    await vi.advanceTimersByTimeAsync(month - 1);
    expect(said).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(await reading).toBe('late');
  });

  it.each([0, -1, NaN])('refuses the speed %s', (speed) => {
    expect(() => playTape(tape, { speed })).toThrow(RangeError);
  });
});
