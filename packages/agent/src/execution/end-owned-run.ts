import type { End, Store } from '@intertie/core';
import { pause, recoverRun } from '@intertie/core/internal';
import type { FinishResult, Ownership } from '@intertie/core/store';

export type EndOwnedOptions = {
  store: Store;
  /** How it ended; lost unless given. */
  end?: End;
  /** The process is going: it gives up soon. */
  leaving: AbortSignal;
  onError: (error: unknown) => void;
};

/**
 * Ends a run that this process owns and does not run. As long as the process lives nobody else will, so it is tried until
 * it is done.
 */
export async function endOwnedRun(owned: Ownership, options: EndOwnedOptions): Promise<FinishResult> {
  const { store, end, leaving, onError } = options;
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
    if (leaving.aborted && attempt > 3) return { result: 'fenced' };
    await pause(Math.min(40 * 2 ** attempt, 5_000), leaving).catch(() => undefined);
  }
}
