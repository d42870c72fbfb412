import type { End, Store } from '@intertie/core';
import { pause, recoverRun } from '@intertie/core/internal';
import type { FinishResult, Ownership } from '@intertie/core/store';

export type EndOwnedOptions = {
  store: Store;
  /** How the run ended. Default: `lost`. */
  end?: End;
  /** Aborted when the process closes: then it gives up after a few attempts. */
  closing: AbortSignal;
  onError: (error: unknown) => void;
};

/**
 * Ends a run that this process owns and does not execute. Retries until it succeeds, because no other process takes the run
 * over while this one is alive.
 */
export async function endOwnedRun(owned: Ownership, options: EndOwnedOptions): Promise<FinishResult> {
  const { store, end, closing, onError } = options;
  const { key } = owned.run;
  for (let attempt = 0; ; attempt++) {
    try {
      const position = (await store.log.positions([key])).get(key);
      if (!position?.live || position.epoch !== owned.epoch) return { result: 'fenced' };
      const result = await recoverRun(store, { ...owned, nextSeq: position.next }, end);
      if (result.result === 'ok') return result;
    } catch (error) {
      onError(error);
    }
    if (closing.aborted && attempt > 3) return { result: 'fenced' };
    await pause(Math.min(40 * 2 ** attempt, 5_000), closing).catch(() => undefined);
  }
}
