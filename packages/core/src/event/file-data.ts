import { isFields } from '../json/fields.ts';
import { encodeBase64 } from '../json/base64.ts';
import { isBase64 } from '../json/is-base64.ts';

/**
 * Rewrites the data of file parts in place to padded base64, the only stored form. Programs also pass base64 without padding,
 * with line breaks or in the URL-safe alphabet, and data URLs, whose media type is used if the part has none. Other text is
 * left for the shape check to reject.
 */
export function normalizeFiles(parts: unknown): void {
  if (!Array.isArray(parts)) return;
  for (const part of (parts as unknown[]).filter(isFields) as Array<Record<string, unknown>>) {
    if (part['type'] === 'interjection') normalizeFiles(part['parts']);
    const { type, data } = part;
    if (type !== 'file' || typeof data !== 'string' || isBase64(data)) continue;
    const read = /^data:/i.test(data) ? readDataUrl(data) : { data: toBase64(data) };
    if (read?.data === undefined) continue;
    part['data'] = read.data;
    if (read.mimeType !== undefined) part['mimeType'] ??= read.mimeType;
  }
}

/** RFC 2397: `data:[<mediatype>][;base64],<data>`. */
function readDataUrl(url: string): { data: string | undefined; mimeType?: string } | undefined {
  const comma = url.indexOf(',');
  if (comma === -1) return undefined;
  const [, mediaType = '', encoding] = /^(.*?)(;\s*base64\s*)?$/is.exec(url.slice('data:'.length, comma)) ?? [];
  const bytes = percentDecode(url.slice(comma + 1));
  const data = encoding === undefined ? encodeBase64(bytes) : toBase64(new TextDecoder().decode(bytes));
  return { data, mimeType: mediaType.startsWith(';') || mediaType === '' ? `text/plain${mediaType}` : mediaType };
}

function percentDecode(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  if (!text.includes('%')) return bytes;
  let length = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const hex = bytes[index] === 0x25 ? String.fromCharCode(bytes[index + 1] ?? 0, bytes[index + 2] ?? 0) : '';
    const isEscape = /^[\da-f]{2}$/i.test(hex);
    bytes[length++] = isEscape ? Number.parseInt(hex, 16) : bytes[index]!;
    if (isEscape) index += 2;
  }
  return bytes.subarray(0, length);
}

/** Padded base64 of the standard alphabet; undefined if the text is not base64. */
function toBase64(text: string): string | undefined {
  const digits = text
    .trim()
    .replaceAll(/[\r\n]+/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
  const padded = digits.padEnd(Math.ceil(digits.length / 4) * 4, '=');
  return digits.length % 4 !== 1 && isBase64(padded) ? padded : undefined;
}
