/** A URL, absolute or relative, with more path and more query; its own query and fragment stay where they belong. */
export function appendPath(url: string, path: string, query: Record<string, string | undefined> = {}): string {
  const [, base = '', search = '', hash = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(url) ?? [];
  const params = new URLSearchParams(search);
  for (const [key, value] of Object.entries(query)) if (value !== undefined) params.set(key, value);
  const asked = params.toString();
  return `${base.replace(/\/+$/, '')}${path}${asked === '' ? '' : `?${asked}`}${hash}`;
}
