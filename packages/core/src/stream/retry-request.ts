import { pause } from './pause.ts';

/** Pauses between the attempts to reach a remote server. One that is being deployed is back within seconds. */
export const restartPausesMs: readonly number[] = [500, 1_000, 2_000, 4_000];

/**
 * Sends the first request of a resumed run. A deploy often restarts the remote server too, so the request is repeated if it fails or
 * is answered with 429 or 5xx. Returns the last response, or throws the last error.
 */
export async function retryRequest(send: () => Promise<Response>, signal?: AbortSignal): Promise<Response> {
  for (const ms of restartPausesMs) {
    const response = await send().catch((error: unknown) => {
      if (signal?.aborted) throw error;
    });
    if (response && response.status !== 429 && response.status < 500) return response;
    await response?.body?.cancel();
    await pause(ms, signal);
  }
  return send();
}
