import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSlots, type StreamSlot } from './stream-slots.ts';

type Waiting = { name: string; grant: () => void };

/** Minimal `LockManager`: exclusive locks with a queue per name. */
class MockLocks {
  #held: Array<{ name: string }> = [];
  #pending: Waiting[] = [];

  query = async (): Promise<{ held: Array<{ name: string }>; pending: Array<{ name: string }> }> => ({
    held: [...this.#held],
    pending: [...this.#pending],
  });

  request = (name: string, { signal }: { signal: AbortSignal }, hold: () => Promise<void>): Promise<void> =>
    new Promise((resolve, reject) => {
      const lock = { name };
      const acquire = async (): Promise<void> => {
        this.#held.push(lock);
        await hold();
        this.#held.splice(this.#held.indexOf(lock), 1);
        resolve();
        const next = this.#pending.findIndex((waiting) => waiting.name === name);
        if (next !== -1) this.#pending.splice(next, 1)[0]!.grant();
      };
      const grant = (): void => void acquire();
      if (!this.#held.some((other) => other.name === name)) return grant();
      const waiting = { name, grant };
      this.#pending.push(waiting);
      signal.addEventListener('abort', () => {
        this.#pending.splice(this.#pending.indexOf(waiting), 1);
        reject(signal.reason as Error);
      });
    });
}

describe('createSlots', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal('navigator', { locks: new MockLocks() });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const never = (): AbortSignal => new AbortController().signal;

  it('grants two slots and revokes one when a third reader waits', async () => {
    const acquire = createSlots('test', 2);
    const first = await acquire(never());
    const second = await acquire(never());
    let third: StreamSlot | undefined;
    void acquire(never()).then((slot) => (third = slot));
    await vi.advanceTimersByTimeAsync(1000);
    expect(third).toBeUndefined();
    expect([first.revoked.aborted, second.revoked.aborted]).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(1000);
    // One reader waits, so one slot is revoked.
    expect([first, second].filter(({ revoked }) => revoked.aborted)).toHaveLength(1);
    [first, second].find(({ revoked }) => revoked.aborted)!.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(third).toBeDefined();
  });

  it('keeps a slot as long as no reader waits', async () => {
    const slot = await createSlots('test', 1)(never());
    await vi.advanceTimersByTimeAsync(60_000);
    expect(slot.revoked.aborted).toBe(false);
  });

  it('stops waiting for a slot when the signal aborts', async () => {
    const acquire = createSlots('test', 1);
    await acquire(never());
    const left = new AbortController();
    const waiting = acquire(left.signal);
    await vi.advanceTimersByTimeAsync(0);
    left.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
  });
});
