import type { UIMessageVersion } from '../ui-message-stream/chunk/ui-message-chunk.ts';

/** `Accept` header of a client with `ai` 7. Browsers send this header to other origins without a preflight request. */
export const acceptVersion7 = 'text/event-stream; ai=7';

/** Reads the major version of `ai` that a client accepts. Undefined if it names none. */
export function readAcceptedVersion({ headers }: Request): UIMessageVersion | undefined {
  return /;\s*ai=7\b/.test(headers.get('accept') ?? '') ? 7 : undefined;
}
