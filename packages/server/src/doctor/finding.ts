/** One thing that was looked at. `absent` is fine too: it is not set up, and `next` says how it would be. */
export type Finding = {
  what: string;
  state: 'fine' | 'absent' | 'broken';
  found: string;
  /** The next step. */
  next?: string;
};

export function messageOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: unknown };
  const why = cause instanceof Error && cause.message !== message ? ` (${cause.message})` : '';
  return `${message ?? String(error)}${why}`;
}
