/** Formats a value on one line, cut at `limit` characters. Does not visit the rest of a large value. */
export function compactJson(value: unknown, limit = 160): string {
  const text = format(value, limit);
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

function format(value: unknown, left: number): string {
  if (typeof value === 'string') return JSON.stringify(shortenIds(value.slice(0, left + 40)).slice(0, left));
  if (typeof value !== 'object' || value === null) return String(value);
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  for (const key of Object.keys(value)) {
    if (text.length > left) return text;
    const inner = format((value as Record<string, unknown>)[key], left - text.length);
    if (text.length > 1) text += ', ';
    text += isList ? inner : `${key}: ${inner}`;
  }
  return text + (isList ? ']' : '}');
}

/** Shortens UUIDs to their last four digits, which suffice to tell them apart in a row. */
export function shortenIds(text: string): string {
  return text.replaceAll(/[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{8}([\da-f]{4})/gi, '…$1');
}
