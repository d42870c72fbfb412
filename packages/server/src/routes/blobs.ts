import type { BlobInfo } from '@intertie/core/store';
import { blobPath } from '../host/blob-urls.ts';
import type { Host } from '../host/host.ts';
import { matchesETag } from '../http/matches-etag.ts';
import { readBytes } from '../http/read-json.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import { getStore, type App } from './context.ts';

const hash = /^[0-9a-f]{64}$/;
const mediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;
/** Media types that a browser displays without executing anything. All others are downloads. */
const inlineTypes = /^(image\/(png|jpeg|gif|webp|avif)|audio\/[\w.+-]+|video\/[\w.+-]+|text\/plain)$/;

/** Adds the routes that upload and serve files. */
export function addBlobRoutes(app: App, host: Host): void {
  app.post('/api/blobs', async (c) => {
    const store = getStore(host, c);
    const data = await readBytes(c.req.raw, host.limits.bodyBytes);
    if (data.byteLength === 0)
      throw new IntertieError('bad-request', 'The body is empty; it should contain the bytes of the file.');
    const type = parseMediaType(c.req.header('content-type'));
    const info = await store.blobs.put(store.scope, { data, mediaType: type });
    return c.json({
      sha256: info.sha256,
      size: info.size,
      mediaType: info.mediaType ?? type,
      url: blobPath(info.sha256),
    });
  });

  app.on(['GET', 'HEAD'], '/api/blobs/:sha256', async (c) => {
    const store = getStore(host, c);
    const sha256 = c.req.param('sha256');
    const info = hash.test(sha256) ? await store.blobs.info(store.scope, sha256) : null;
    if (!info) throw new IntertieError('no-blob');
    const etag = `"${info.sha256}"`;
    const headers: { [name: string]: string } = { ...getHeaders(info), etag };
    if (matchesETag(c.req.header('if-none-match'), etag)) return new Response(null, { status: 304, headers });
    const range = parseRange(c.req.header('range'), info.size);
    const body = await store.blobs.get(store.scope, sha256, range);
    if (!body) throw new IntertieError('no-blob');
    const { start, end } = range ?? { start: 0, end: info.size };
    headers['content-length'] = String(end - start);
    if (range) headers['content-range'] = `bytes ${start}-${end - 1}/${info.size}`;
    if (c.req.method === 'HEAD') await body.cancel();
    return new Response(c.req.method === 'HEAD' ? null : body, { status: range ? 206 : 200, headers });
  });
}

function parseMediaType(header: string | undefined): string {
  const [type = ''] = (header ?? '').split(';');
  return mediaType.test(type.trim()) ? type.trim().toLowerCase() : 'application/octet-stream';
}

/** Headers that prevent uploaded files from running scripts: they have the same origin as the console. */
function getHeaders({ mediaType: type = 'application/octet-stream' }: BlobInfo): { [name: string]: string } {
  return {
    'content-type': inlineTypes.test(type) ? type : 'application/octet-stream',
    'content-disposition': inlineTypes.test(type) ? 'inline' : 'attachment',
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=31536000, immutable',
  };
}

/** Parses a single byte range. Several ranges are ignored, which RFC 9110 allows, and the whole file is sent. */
function parseRange(header: string | undefined, size: number): { start: number; end: number } | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return undefined;
  const last = match[1] === '' ? Number(match[2]) : undefined;
  const start = last === undefined ? Number(match[1]) : Math.max(0, size - last);
  const end = last !== undefined || match[2] === '' ? size : Math.min(size, Number(match[2]) + 1);
  if (start < end) return { start, end };
  throw new IntertieError('bad-range', undefined, { headers: { 'content-range': `bytes */${size}` } });
}
