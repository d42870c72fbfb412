import type { End } from './codec.ts';

/**
 * What to tell `AbortController.abort`, so that the run's end says who stopped it and why:
 * `controller.abort({ by: 'system', message: 'shutdown' })`. Without one it was the user.
 */
export type StopReason = { by?: 'user' | 'system'; message?: string };

/** The end of a run that a signal stopped. A time limit is the system's; the platform's own abort has nothing to say. */
export function toAbortEnd(reason: unknown): Extract<End, { reason: 'aborted' }> {
  if (typeof reason === 'string') return { reason: 'aborted', by: 'user', message: reason };
  if (typeof reason !== 'object' || reason === null) return { reason: 'aborted', by: 'user' };
  const { by, message, name } = reason as { by?: unknown; message?: unknown; name?: unknown };
  return {
    reason: 'aborted',
    by: by === 'system' || name === 'TimeoutError' ? 'system' : 'user',
    ...(typeof message === 'string' && name !== 'AbortError' && { message }),
  };
}
