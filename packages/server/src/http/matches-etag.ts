/** Whether `If-None-Match` matches the tag: `*`, or a list with weak comparison (RFC 9110, 13.1.2). */
export function matchesETag(header: string | null | undefined, etag: string): boolean {
  if (!header) return false;
  if (header.trim() === '*') return true;
  // A tag may contain a comma, so the list cannot be split at commas.
  return header.match(/"[^"]*"/g)?.some((tag) => tag === etag) ?? false;
}
