/** Result of one check. `absent` means not configured, which is fine; `next` says how to configure it. */
export type Finding = {
  what: string;
  state: 'fine' | 'absent' | 'broken';
  found: string;
  /** The next step. */
  next?: string;
};

export function formatError(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: unknown };
  const why = cause instanceof Error && cause.message !== message ? ` (${cause.message})` : '';
  return `${message ?? String(error)}${why}`;
}
