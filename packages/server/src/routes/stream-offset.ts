import type { LogPosition } from '@intertie/core/store';

/** Formats an offset of a run's stream as `{epoch:016}_{seq:016}`, so that offsets sort as text. */
export function formatOffset({ epoch, seq }: LogPosition): string {
  return `${String(epoch).padStart(16, '0')}_${String(seq).padStart(16, '0')}`;
}

/** Parses an offset. `-1` and the zero offset are the start of the log. Null if the text is not an offset. */
export function parseOffset(text: string): LogPosition | 'now' | null {
  if (text === 'now') return 'now';
  if (text === '-1') return { epoch: 0, seq: 0 };
  const match = /^(\d{16})_(\d{16})$/.exec(text);
  return match ? { epoch: Number(match[1]), seq: Number(match[2]) } : null;
}

const intervalMs = 20_000;

/** Returns the cursor that lets caches collapse equal long polls: the current interval, but always after the client's cursor. */
export function nextCursor(given: string | undefined, now: number = Date.now()): string {
  const current = Math.floor(now / intervalMs);
  const last = given !== undefined && /^\d{1,15}$/.test(given) ? Number(given) : -1;
  return String(Math.max(current, last + 1));
}
