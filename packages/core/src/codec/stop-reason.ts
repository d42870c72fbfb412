import type { End } from './codec.ts';

/**
 * Reason for `AbortController.abort` that names the origin and the cause of a stop, for the end of the run:
 * `controller.abort({ by: 'system', message: 'shutdown' })`. Without it the stop counts as the user's.
 */
export type StopReason = { by?: 'user' | 'system'; message?: string };

/** Converts an abort reason to the end of the run. A `TimeoutError` counts as `system`; the text of an `AbortError` is dropped. */
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

/** Whether a run was aborted because another process continues it. Its remote task must not be cancelled. */
export function isHandOver({ aborted, reason }: AbortSignal): boolean {
  return aborted && toAbortEnd(reason).message === 'hand-over';
}
