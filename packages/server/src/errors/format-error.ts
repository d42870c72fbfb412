/** Formats an error for the log. */
export function formatError(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  return error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error);
}
