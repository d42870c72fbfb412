import type { LogPosition } from '@intertie/core/store';

/** An offset of a run's stream: `{epoch:016}_{seq:016}`, so that offsets sort as text does. */
export function formatOffset({ epoch, seq }: LogPosition): string {
  return `${String(epoch).padStart(16, '0')}_${String(seq).padStart(16, '0')}`;
}

/** `-1` and the zero offset are the beginning. Null: this is none. */
export function parseOffset(text: string): LogPosition | 'now' | null {
  if (text === 'now') return 'now';
  if (text === '-1') return { epoch: 0, seq: 0 };
  const match = /^(\d{16})_(\d{16})$/.exec(text);
  return match ? { epoch: Number(match[1]), seq: Number(match[2]) } : null;
}

const intervalMs = 20_000;

/** What lets a cache in between join equal long polls: the number of the interval, but always after what the client has. */
export function nextCursor(given: string | undefined, now: number = Date.now()): string {
  const current = Math.floor(now / intervalMs);
  const last = given !== undefined && /^\d{1,15}$/.test(given) ? Number(given) : -1;
  return String(Math.max(current, last + 1));
}
