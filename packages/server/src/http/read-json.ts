import { readJsonBody, type RequestLimits } from '@intertie/core/http';
import type { z } from 'zod';
import { IntertieError } from '../errors/intertie-error.ts';

/** Reads and validates a JSON body. An empty body is `{}`. */
export async function readJson<Shape extends z.ZodType>(
  request: Request,
  shape: Shape,
  limits: RequestLimits,
): Promise<z.output<Shape>> {
  return parse((await readJsonBody(request, { limits })) ?? {}, shape);
}

/** Reads and validates the query parameters of a request. */
export function readQuery<Shape extends z.ZodType>(request: Request, shape: Shape): z.output<Shape> {
  return parse(Object.fromEntries(new URL(request.url).searchParams), shape);
}

function parse<Shape extends z.ZodType>(value: unknown, shape: Shape): z.output<Shape> {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.map(String).join('.') ?? '';
  throw new IntertieError('bad-request', `${path === '' ? 'The request' : path}: ${issue?.message ?? 'invalid'}`);
}

/** Reads a body into memory. Throws `too-large` as soon as it exceeds the limit. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (;;) {
    const result = await reader?.read();
    if (result === undefined || result.done) break;
    size += result.value.byteLength;
    if (size > maxBytes) {
      reader?.cancel().catch(() => undefined);
      throw new IntertieError('too-large', `The body is longer than ${maxBytes} bytes.`);
    }
    chunks.push(result.value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
