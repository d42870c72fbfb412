import { JsonScanner } from '../json/json-scanner.ts';
import { MAX_OUTER_DEPTH } from '../json/max-depth.ts';
import { StoreError } from '../store/store-error.ts';
import { checkStoreId } from '../store/store-id.ts';

/** Limits of a JSON request. They are checked before anything is converted. */
export type RequestLimits = {
  /** Maximum size of a request body in bytes, including files. Default: 32 MB. */
  bodyBytes: number;
  /** Maximum size of the JSON in bytes, without the base64 data of files in it. Default: 2 MB. */
  jsonBytes: number;
  /** Maximum nesting of arrays and objects in the JSON. Default: 272. */
  jsonDepth: number;
  /** Maximum number of messages in one request. Default: 5000. */
  messages: number;
  /** Maximum number of parts of all messages in one request. Default: 20,000. */
  parts: number;
};

export const defaultRequestLimits: RequestLimits = {
  bodyBytes: 32_000_000,
  jsonBytes: 2_000_000,
  jsonDepth: MAX_OUTER_DEPTH,
  messages: 5_000,
  parts: 20_000,
};

export type RequestBodyErrorCode =
  | 'too-large'
  | 'json-too-large'
  | 'json-too-deep'
  | 'bad-json'
  | 'bad-id'
  | 'too-many-messages'
  | 'too-many-parts';

/** Thrown for a request that is rejected before anything is stored or started. Message and fix are written for the client. */
export class RequestBodyError extends Error {
  override readonly name = 'RequestBodyError';
  readonly code: RequestBodyErrorCode;
  readonly status: 400 | 413;
  readonly fix: string;

  constructor(code: RequestBodyErrorCode, message: string, fix: string) {
    super(message);
    this.code = code;
    this.status = code.startsWith('bad-') || code === 'json-too-deep' ? 400 : 413;
    this.fix = fix;
  }

  toResponse(): Response {
    const { code, message, fix, status } = this;
    return Response.json({ error: { code, message, fix } }, { status });
  }
}

export type ReadJsonOptions = {
  limits?: Partial<RequestLimits> | undefined;
  /** Default: `JSON.parse`. */
  parse?: (text: string) => unknown;
};

/** Large chunks are scanned in slices, so that an invalid body is rejected early. */
const sliceBytes = 65_536;

/**
 * Reads a JSON body. Size and depth are checked while it arrives, so that a rejected body is neither buffered nor parsed.
 * Returns undefined for an empty body. Throws `RequestBodyError`.
 */
export async function readJsonBody(
  { body }: Pick<Request, 'body'>,
  { limits = {}, parse = JSON.parse }: ReadJsonOptions = {},
): Promise<unknown> {
  const { bodyBytes, jsonBytes, jsonDepth } = { ...defaultRequestLimits, ...limits };
  const scanner = new JsonScanner();
  const pieces: Uint8Array[] = [];
  let size = 0;

  const check = (piece: Uint8Array): void => {
    size += piece.byteLength;
    if (size > bodyBytes) throw tooLarge(bodyBytes);
    for (let start = 0; start < piece.byteLength; start += sliceBytes) {
      scanner.feed(piece.subarray(start, start + sliceBytes));
      if (scanner.maxDepth > jsonDepth) throw jsonTooDeep(jsonDepth);
      if (scanner.jsonBytes > jsonBytes) throw jsonTooLarge(jsonBytes);
    }
    pieces.push(piece);
  };

  const reader = body?.getReader();
  try {
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) check(next.value);
  } catch (error) {
    reader?.cancel().catch(() => undefined);
    throw error;
  }
  return parseText(decode(pieces), parse);
}

/** Throws if there are too many messages or parts. `countParts` receives one message as the client sent it, unchecked. */
export function checkMessageCounts(
  messages: readonly unknown[],
  countParts: (message: unknown) => number,
  limits: Partial<RequestLimits> = {},
): void {
  const max = { ...defaultRequestLimits, ...limits };
  const hint = 'Send the new message only, if the server stores the thread';
  if (messages.length > max.messages) {
    throw new RequestBodyError(
      'too-many-messages',
      `The request has ${messages.length} messages, and the limit is ${max.messages}.`,
      `${hint}, or raise limits.messages.`,
    );
  }
  let parts = 0;
  for (const message of messages) parts += countParts(message);
  if (parts > max.parts) {
    throw new RequestBodyError(
      'too-many-parts',
      `The messages of the request have ${parts} parts, and the limit is ${max.parts}.`,
      `${hint}, or raise limits.parts.`,
    );
  }
}

/** Throws if an id cannot be stored or sent in a header. */
export function checkRequestId(what: string, id: string): void {
  try {
    checkStoreId(what, id);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new RequestBodyError(
      'bad-id',
      error.message,
      'Use an id of 1 to 256 bytes, without NUL and unpaired surrogates.',
    );
  }
}

function tooLarge(limit: number): RequestBodyError {
  const fix = 'Send less, send large files by URL, or raise limits.bodyBytes.';
  return new RequestBodyError('too-large', `The body is longer than ${limit} bytes.`, fix);
}

function jsonTooLarge(limit: number): RequestBodyError {
  const message = `The JSON of the body is longer than ${limit} bytes, not counting the base64 data of files.`;
  const fix = 'Send the new message only, if the server stores the thread, or raise limits.jsonBytes.';
  return new RequestBodyError('json-too-large', message, fix);
}

function jsonTooDeep(limit: number): RequestBodyError {
  const message = `The JSON of the body nests deeper than ${limit} arrays and objects.`;
  return new RequestBodyError('json-too-deep', message, 'Send flatter JSON, or raise limits.jsonDepth.');
}

function badJson(message: string): RequestBodyError {
  return new RequestBodyError('bad-json', message, 'Send a JSON object, encoded as UTF-8.');
}

function decode(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    return pieces.map((piece) => decoder.decode(piece, { stream: true })).join('') + decoder.decode();
  } catch {
    throw badJson('The body is not UTF-8.');
  }
}

function parseText(text: string, parse: (text: string) => unknown): unknown {
  if (text.trim() === '') return undefined;
  try {
    return parse(text);
  } catch (error) {
    throw badJson(`The body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
