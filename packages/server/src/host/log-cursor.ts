import type { LogPosition } from '@intertie/core/store';

/** `epoch.seq`, the id of a canonical event over HTTP. Null: this is none. */
export function parseCursor(text: string): LogPosition | null {
  const match = /^(\d{1,15})\.(\d{1,15})$/.exec(text);
  return match ? { epoch: Number(match[1]), seq: Number(match[2]) } : null;
}

export function formatCursor({ epoch, seq }: LogPosition): string {
  return `${epoch}.${seq}`;
}
