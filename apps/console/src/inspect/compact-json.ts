/** A value on one line, cut where it gets longer than a line can show. Never walks further than that. */
export function compactJson(value: unknown, limit = 160): string {
  const text = write(value, limit);
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

function write(value: unknown, left: number): string {
  if (typeof value === 'string') return JSON.stringify(shortIds(value.slice(0, left + 40)).slice(0, left));
  if (typeof value !== 'object' || value === null) return String(value);
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  for (const key of Object.keys(value)) {
    if (text.length > left) return text;
    const inner = write((value as Record<string, unknown>)[key], left - text.length);
    if (text.length > 1) text += ', ';
    text += isList ? inner : `${key}: ${inner}`;
  }
  return text + (isList ? ']' : '}');
}

/** A UUID takes half a row and says nothing; its end tells it from others. */
export function shortIds(text: string): string {
  return text.replaceAll(/[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{8}([\da-f]{4})/gi, '…$1');
}
