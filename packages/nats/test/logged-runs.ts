import type { AgentEvent } from '@intertie/core';
import type { DetachedAppended, DetachedLog, LogPosition, RunKey } from '@intertie/core/store';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

export type LoggedRuns = {
  /** Writes the same number of batches to every run, each until the log has acknowledged it. */
  write(options: WriteOptions): Promise<WriteFigures>;
  /** Reads every run from its beginning and compares it with the acknowledged events. */
  check(log: DetachedLog): Promise<void>;
};
export type WriteOptions = {
  /** Log of the writer of a run. */
  logOf: (index: number) => DetachedLog;
  batches: number;
  eventsPerBatch?: number;
  paceMs?: number;
  /** Called once when half of all batches are acknowledged. */
  halfWay?: () => void;
};
export type WriteFigures = { acknowledged: number; retries: number; pauseMs: number; p50: number; p99: number };

const text = (run: number, seq: number): AgentEvent => ({ type: 'text-delta', id: 'p', delta: `${run}/${seq} ` });

/** Runs whose every event is known, to find lost, repeated and reordered ones. */
export function createLoggedRuns(count: number, prefix: string): LoggedRuns {
  const next = Array.from({ length: count }, () => 1);
  const toKey = (index: number): RunKey => `${prefix}_${index}` as RunKey;

  return {
    async write({ logOf, batches, eventsPerBatch = 1, paceMs = 0, halfWay }) {
      const figures: WriteFigures = { acknowledged: 0, retries: 0, pauseMs: 0, p50: 0, p99: 0 };
      const times: number[] = [];
      let lastAt = performance.now();
      const half = (count * batches) / 2;
      const acknowledge = (startedAt: number): void => {
        const now = performance.now();
        times.push(now - startedAt);
        figures.pauseMs = Math.max(figures.pauseMs, now - lastAt);
        lastAt = now;
        if (++figures.acknowledged === Math.floor(half)) halfWay?.();
      };
      const writeRun = async (index: number): Promise<void> => {
        for (let n = 0; n < batches; n++) {
          const seq = next[index]!;
          const events = Array.from({ length: eventsPerBatch }, (_, event) => text(index, seq + event));
          const startedAt = performance.now();
          let verdict: DetachedAppended | undefined;
          while (verdict !== 'ok' && verdict !== 'applied') {
            try {
              [verdict] = await logOf(index).append([{ run: toKey(index), epoch: 1, seq, events }]);
            } catch {
              // No leader, or the connection is cut.
            }
            if (verdict === 'fenced' || verdict === 'ended' || verdict === 'regressed')
              throw new Error(`The run ${toKey(index)} is ${verdict} at ${seq}.`);
            if (verdict !== 'ok' && verdict !== 'applied') {
              figures.retries += 1;
              await sleep(50);
            }
          }
          acknowledge(startedAt);
          next[index] = seq + eventsPerBatch;
          if (paceMs > 0) await sleep(paceMs);
        }
      };
      await Promise.all(next.map((_, index) => writeRun(index)));
      times.sort((a, b) => a - b);
      figures.p50 = times[Math.floor(times.length / 2)] ?? 0;
      figures.p99 = times[Math.floor(times.length * 0.99)] ?? 0;
      return figures;
    },

    async check(log) {
      const checkRun = async (index: number): Promise<void> => {
        let position: LogPosition = { epoch: 0, seq: 0 };
        for (;;) {
          // Rejects while the cluster has no leader, as every reader of a run expects.
          const page = await log.read(toKey(index), position, 500).catch(() => undefined);
          if (page === undefined) {
            await sleep(100);
            continue;
          }
          expect(page).toMatchObject({ valid: true, dropped: false, tail: next[index]! - 1 });
          const expected = page!.events.map((_, event) => text(index, position.seq + 1 + event));
          expect(page!.events).toEqual(expected);
          position = page!.position;
          if (position.seq === page!.tail) return;
          expect(page!.events.length).toBeGreaterThan(0);
        }
      };
      // A few at a time: a server before 2.11 needs a request per message.
      for (let index = 0; index < count; index += 20) {
        await Promise.all(next.slice(index, index + 20).map((_, offset) => checkRun(index + offset)));
      }
    },
  };
}
