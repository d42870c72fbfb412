import { StoreError } from '@intertie/core';

export type PersistOptions = {
  /** Number of retries. Default: 8, which is ten seconds. */
  attempts?: number;
  /** Time after which a failure is final, whatever the attempts. */
  withinMs?: number;
};

/** Retries a call with backoff while the store is away. A refusal (`StoreError`) is final. */
export async function persist<Result>(
  call: () => Promise<Result>,
  onError: (error: unknown) => void,
  { attempts = 8, withinMs = Infinity }: PersistOptions = {},
): Promise<Result> {
  const begin = performance.now();
  for (let attempt = 0; ; attempt++) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      return await call();
    } catch (error) {
      const isFinal = attempt >= attempts || performance.now() - begin > withinMs;
      if (isFinal || error instanceof StoreError) throw error;
      onError(error);
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      await new Promise((resolve) => setTimeout(resolve, 40 * 2 ** attempt));
    }
  }
}
