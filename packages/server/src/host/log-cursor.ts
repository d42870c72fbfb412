import type { LogPosition } from '@intertie/core/store';

/** Parses `epoch.seq`, the id of a canonical event over HTTP. Null if the text is not a cursor. */
export function parseCursor(text: string): LogPosition | null {
  const match = /^(\d{1,15})\.(\d{1,15})$/.exec(text);
  return match ? { epoch: Number(match[1]), seq: Number(match[2]) } : null;
}

export function formatCursor({ epoch, seq }: LogPosition): string {
  return `${epoch}.${seq}`;
}
