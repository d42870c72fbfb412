import { StoreError } from '@intertie/core';

const attempts = 8;

/** Calls again where a store is away for a moment: ten seconds in all. A refusal is an answer. */
export async function persist<Result>(call: () => Promise<Result>, onError: (error: unknown) => void): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      return await call();
    } catch (error) {
      if (attempt >= attempts || error instanceof StoreError) throw error;
      onError(error);
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      await new Promise((resolve) => setTimeout(resolve, 40 * 2 ** attempt));
    }
  }
}
