import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { turnsFor, type Turn } from './wire-turns.ts';

type Waiting = { name: string; begin: () => void };

/** As much of a browser's locks as is needed: who asks waits in line for whoever holds the name. */
class Locks {
  #held: Array<{ name: string }> = [];
  #pending: Waiting[] = [];

  query = async (): Promise<{ held: Array<{ name: string }>; pending: Array<{ name: string }> }> => ({
    held: [...this.#held],
    pending: [...this.#pending],
  });

  request = (name: string, { signal }: { signal: AbortSignal }, hold: () => Promise<void>): Promise<void> =>
    new Promise((resolve, reject) => {
      const lock = { name };
      const run = async (): Promise<void> => {
        this.#held.push(lock);
        await hold();
        this.#held.splice(this.#held.indexOf(lock), 1);
        resolve();
        const next = this.#pending.findIndex((waiting) => waiting.name === name);
        if (next !== -1) this.#pending.splice(next, 1)[0]!.begin();
      };
      const begin = (): void => void run();
      if (!this.#held.some((other) => other.name === name)) return begin();
      const waiting = { name, begin };
      this.#pending.push(waiting);
      signal.addEventListener('abort', () => {
        this.#pending.splice(this.#pending.indexOf(waiting), 1);
        reject(signal.reason as Error);
      });
    });
}

describe('turns', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal('navigator', { locks: new Locks() });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const never = (): AbortSignal => new AbortController().signal;

  it('are had by two at a time, and the third comes when one of them is over', async () => {
    const take = turnsFor('test', 2);
    const first = await take(never());
    const second = await take(never());
    let third: Turn | undefined;
    void take(never()).then((turn) => (third = turn));
    await vi.advanceTimersByTimeAsync(1000);
    expect(third).toBeUndefined();
    expect([first.over.aborted, second.over.aborted]).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(1000);
    // One waits, so one makes room.
    expect([first, second].filter(({ over }) => over.aborted)).toHaveLength(1);
    [first, second].find(({ over }) => over.aborted)!.done();
    await vi.advanceTimersByTimeAsync(0);
    expect(third).toBeDefined();
  });

  it('last as long as nobody waits', async () => {
    const turn = await turnsFor('test', 1)(never());
    await vi.advanceTimersByTimeAsync(60_000);
    expect(turn.over.aborted).toBe(false);
  });

  it('are not waited for any longer than one wants to', async () => {
    const take = turnsFor('test', 1);
    await take(never());
    const left = new AbortController();
    const waiting = take(left.signal);
    await vi.advanceTimersByTimeAsync(0);
    left.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
  });
});
