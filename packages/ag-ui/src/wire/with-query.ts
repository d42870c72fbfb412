/** A URL with more to its query. It may be relative to a page. */
export function withQuery(url: string, more: Record<string, string>): string {
  const [place] = url.split('#', 1) as [string];
  return `${place}${place.includes('?') ? '&' : '?'}${new URLSearchParams(more)}`;
}
