/** Whether `If-None-Match` names the tag: one of a list, by weak comparison, or `*` (RFC 9110, 13.1.2). */
export function matchesETag(header: string | null | undefined, etag: string): boolean {
  if (!header) return false;
  if (header.trim() === '*') return true;
  // A tag may have a comma in it, so the list is not split.
  return header.match(/"[^"]*"/g)?.some((tag) => tag === etag) ?? false;
}
