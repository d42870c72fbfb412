/** Appends a path and query parameters to an absolute or relative URL, keeping its own query and fragment. */
export function appendPath(url: string, path: string, query: Record<string, string | undefined> = {}): string {
  const [, base = '', search = '', hash = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(url) ?? [];
  const params = new URLSearchParams(search);
  for (const [key, value] of Object.entries(query)) if (value !== undefined) params.set(key, value);
  const asked = params.toString();
  return `${base.replace(/\/+$/, '')}${path}${asked === '' ? '' : `?${asked}`}${hash}`;
}
