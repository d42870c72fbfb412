import type { UIMessageChunkOf, UIMessageVersion } from './ui-message-chunk.ts';

/** What is wrong with a chunk, and where. */
export type ChunkProblem = { path: string; message: string };

type Chunk = { readonly [key: string]: unknown };

/** Deeper metadata than this is refused instead of overflowing the stack, as the schema would. */
const maxDepth = 500;

/**
 * Whether a value is a UI message chunk: the verdict of `uiMessageChunkSchema` of that version, without its cost. The
 * schema tries one variant after the other and copies what it reads; this looks at the type, then at the fields, and
 * allocates only to say what is wrong. Unknown fields are fine, as they are to the schema.
 */
export function validateUIMessageChunk(value: unknown, version: UIMessageVersion = 6): ChunkProblem | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return problem('', 'a chunk is an object');
  const chunk = value as Chunk;
  switch (chunk.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return text(chunk, 'id') ?? text(chunk, 'delta') ?? meta(chunk);
    case 'tool-input-delta':
      return text(chunk, 'toolCallId') ?? text(chunk, 'inputTextDelta');
    case 'text-end':
      return text(chunk, 'id') ?? meta(chunk) ?? (version === 7 ? citations(chunk.citations, 'citations') : undefined);
    case 'text-start':
    case 'reasoning-start':
    case 'reasoning-end':
      return text(chunk, 'id') ?? meta(chunk);
    case 'tool-input-start':
      return call(chunk) ?? encoding(chunk);
    case 'tool-input-available':
      return call(chunk) ?? present(chunk, 'input');
    case 'tool-input-error':
      return call(chunk) ?? present(chunk, 'input') ?? text(chunk, 'errorText');
    case 'tool-approval-request':
      return (
        text(chunk, 'approvalId') ??
        text(chunk, 'toolCallId') ??
        maybeText(chunk, 'signature') ??
        (version === 7 ? (maybeText(chunk, 'reason') ?? maybeFlag(chunk, 'isAutomatic')) : undefined)
      );
    case 'tool-output-available':
      return text(chunk, 'toolCallId') ?? present(chunk, 'output') ?? result(chunk) ?? maybeFlag(chunk, 'preliminary');
    case 'tool-output-error':
      return text(chunk, 'toolCallId') ?? text(chunk, 'errorText') ?? result(chunk);
    case 'tool-output-denied':
      return text(chunk, 'toolCallId');
    case 'source-url':
      return text(chunk, 'sourceId') ?? text(chunk, 'url') ?? maybeText(chunk, 'title') ?? meta(chunk);
    case 'source-document':
      return (
        text(chunk, 'sourceId') ??
        text(chunk, 'mediaType') ??
        text(chunk, 'title') ??
        maybeText(chunk, 'filename') ??
        meta(chunk)
      );
    case 'file':
      return text(chunk, 'url') ?? text(chunk, 'mediaType') ?? meta(chunk);
    case 'start-step':
    case 'finish-step':
      return undefined;
    case 'start':
      return maybeText(chunk, 'messageId');
    case 'finish':
      return finishReason(chunk, version);
    case 'abort':
      return maybeText(chunk, 'reason');
    case 'error':
      return text(chunk, 'errorText');
    case 'message-metadata':
      return present(chunk, 'messageMetadata');
    default:
      return version === 7 ? chunkOf7(chunk) : dataChunk(chunk);
  }
}

/** The same, as a type guard. */
export function isUIMessageChunk<Version extends UIMessageVersion = 6>(
  value: unknown,
  version?: Version,
): value is UIMessageChunkOf<Version> {
  return validateUIMessageChunk(value, version) === undefined;
}

const types6: ReadonlySet<unknown> = new Set([
  'start',
  'finish',
  'abort',
  'error',
  'message-metadata',
  'start-step',
  'finish-step',
  'text-start',
  'text-delta',
  'text-end',
  'reasoning-start',
  'reasoning-delta',
  'reasoning-end',
  'tool-input-start',
  'tool-input-delta',
  'tool-input-available',
  'tool-input-error',
  'tool-approval-request',
  'tool-output-available',
  'tool-output-error',
  'tool-output-denied',
  'source-url',
  'source-document',
  'file',
]);
const types7: ReadonlySet<unknown> = new Set([
  ...types6,
  'custom',
  'reasoning-file',
  'tool-approval-response',
  'steering-message',
  'reset-step',
]);

/** Whether that version has chunks of this type. */
export function isUIMessageChunkType(type: unknown, version: UIMessageVersion = 6): boolean {
  return (version === 7 ? types7 : types6).has(type) || (typeof type === 'string' && type.startsWith('data-'));
}

function chunkOf7(chunk: Chunk): ChunkProblem | undefined {
  switch (chunk.type) {
    case 'custom':
      return text(chunk, 'kind') ?? meta(chunk);
    case 'reasoning-file':
      return text(chunk, 'url') ?? text(chunk, 'mediaType') ?? meta(chunk);
    case 'tool-approval-response':
      return (
        text(chunk, 'approvalId') ??
        flag(chunk, 'approved') ??
        maybeText(chunk, 'reason') ??
        maybeFlag(chunk, 'providerExecuted') ??
        meta(chunk)
      );
    case 'steering-message':
      return text(chunk, 'id') ?? steeringParts(chunk.parts);
    case 'reset-step':
      return undefined;
    default:
      return dataChunk(chunk);
  }
}

function dataChunk(chunk: Chunk): ChunkProblem | undefined {
  if (typeof chunk.type !== 'string') return problem('type', 'the type is a string');
  if (!chunk.type.startsWith('data-')) return problem('type', `no chunk has the type "${chunk.type}"`);
  return present(chunk, 'data') ?? maybeText(chunk, 'id') ?? maybeFlag(chunk, 'transient');
}

function call(chunk: Chunk): ChunkProblem | undefined {
  return text(chunk, 'toolCallId') ?? text(chunk, 'toolName') ?? maybeText(chunk, 'title') ?? result(chunk);
}

/** What a call and its result may both say. */
function result(chunk: Chunk): ChunkProblem | undefined {
  return maybeFlag(chunk, 'providerExecuted') ?? maybeFlag(chunk, 'dynamic') ?? meta(chunk) ?? toolMeta(chunk);
}

function encoding({ inputEncoding }: Chunk): ChunkProblem | undefined {
  if (inputEncoding === undefined || inputEncoding === 'json' || inputEncoding === 'text') return undefined;
  return problem('inputEncoding', 'the encoding is "json" or "text"');
}

function finishReason({ finishReason: reason }: Chunk, version: UIMessageVersion): ChunkProblem | undefined {
  switch (reason) {
    case undefined:
    case 'stop':
    case 'length':
    case 'content-filter':
    case 'tool-calls':
    case 'error':
    case 'other':
      return undefined;
    case 'interrupted':
      if (version === 7) return undefined;
  }
  return problem('finishReason', `ai ${version} has no such finish reason`);
}

function citations(value: unknown, path: string): ChunkProblem | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return problem(path, 'citations are a list');
  for (let index = 0; index < value.length; index += 1) {
    const found = citation(value[index], `${path}[${index}]`);
    if (found) return found;
  }
  return undefined;
}

function citation(value: unknown, path: string): ChunkProblem | undefined {
  if (!isObject(value)) return problem(path, 'a citation is an object');
  const { source } = value;
  if (!isObject(source) || source.type !== 'source') return problem(`${path}.source`, 'a citation has a source');
  const found =
    source.sourceType === 'url'
      ? (text(source, 'id') ?? text(source, 'url') ?? maybeText(source, 'title') ?? meta(source))
      : source.sourceType === 'document'
        ? (text(source, 'id') ??
          text(source, 'mediaType') ??
          text(source, 'title') ??
          maybeText(source, 'filename') ??
          meta(source))
        : problem('sourceType', 'a source is of the type "url" or "document"');
  if (found) return problem(`${path}.source.${found.path}`, found.message);
  return maybeIndex(value, 'startIndex') ?? maybeIndex(value, 'endIndex') ?? maybeText(value, 'citedText');
}

function maybeIndex(value: Chunk, key: string): ChunkProblem | undefined {
  const index = value[key];
  if (index === undefined || (Number.isSafeInteger(index) && (index as number) >= 0)) return undefined;
  return problem(key, 'an index is a whole number');
}

function steeringParts(parts: unknown): ChunkProblem | undefined {
  if (!Array.isArray(parts)) return problem('parts', 'a steering message has a list of parts');
  for (let index = 0; index < parts.length; index += 1) {
    const found = steeringPart(parts[index]);
    if (found) return problem(`parts[${index}].${found.path}`, found.message);
  }
  return undefined;
}

function steeringPart(part: unknown): ChunkProblem | undefined {
  if (!isObject(part)) return problem('', 'a part is an object');
  if (part.type === 'text') return text(part, 'text') ?? meta(part);
  if (part.type !== 'file') return problem('type', 'a steering message has text and files');
  return text(part, 'mediaType') ?? text(part, 'url') ?? maybeText(part, 'filename') ?? reference(part) ?? meta(part);
}

function reference({ providerReference }: Chunk): ChunkProblem | undefined {
  if (providerReference === undefined || isTextRecord(providerReference)) return undefined;
  return problem('providerReference', 'it is a JSON object');
}

function meta({ providerMetadata }: Chunk): ChunkProblem | undefined {
  if (providerMetadata === undefined || isMetadata(providerMetadata)) return undefined;
  return problem('providerMetadata', 'it is an object of JSON objects');
}

function toolMeta({ toolMetadata }: Chunk): ChunkProblem | undefined {
  if (toolMetadata === undefined || isJsonRecord(toolMetadata, 0)) return undefined;
  return problem('toolMetadata', 'it is a JSON object');
}

// The schema looks at own, enumerable keys but `__proto__`. A `for … in` makes no list of them, and reads the fields of objects
// of one kind without a lookup; what it sees of a prototype is told apart only where it would be wrong. It passes over symbols,
// which the schema refuses: JSON does not write them, and to look for them takes longer than all the rest.

function isMetadata(value: unknown): boolean {
  if (!isPlain(value)) return false;
  for (const key in value) if (!isJsonRecord(value[key], 1) && isOwn(value, key)) return false;
  return true;
}

function isTextRecord(value: unknown): boolean {
  if (!isPlain(value)) return false;
  for (const key in value) if (typeof value[key] !== 'string' && isOwn(value, key)) return false;
  return true;
}

function isJsonRecord(value: unknown, depth: number): boolean {
  if (!isPlain(value)) return false;
  for (const key in value) {
    const item = value[key];
    if (item !== undefined && !isJson(item, depth + 1) && isOwn(value, key)) return false;
  }
  return true;
}

function isOwn(value: Chunk, key: string): boolean {
  return key !== '__proto__' && Object.hasOwn(value, key);
}

function isJson(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      if (value === null) return true;
      if (depth > maxDepth) return false;
      if (!Array.isArray(value)) return isJsonRecord(value, depth);
      // By index: a hole is an absent value, and `every` would pass over it.
      for (let index = 0; index < value.length; index += 1) if (!isJson(value[index], depth + 1)) return false;
      return true;
    default:
      return false;
  }
}

function isObject(value: unknown): value is Chunk {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A plain object in the schema's eyes: one whose constructor, if it has one, is that of objects. */
function isPlain(value: unknown): value is Chunk {
  if (!isObject(value)) return false;
  const { constructor } = value;
  // Nearly always, and much faster than to look.
  if (constructor === Object) return true;
  if (typeof constructor !== 'function') return true;
  const prototype: unknown = constructor.prototype;
  return isObject(prototype) && Object.hasOwn(prototype, 'isPrototypeOf');
}

function text(chunk: Chunk, key: string): ChunkProblem | undefined {
  return typeof chunk[key] === 'string' ? undefined : problem(key, 'it is a string');
}

function flag(chunk: Chunk, key: string): ChunkProblem | undefined {
  return typeof chunk[key] === 'boolean' ? undefined : problem(key, 'it is a boolean');
}

function maybeText(chunk: Chunk, key: string): ChunkProblem | undefined {
  return chunk[key] === undefined ? undefined : text(chunk, key);
}

function maybeFlag(chunk: Chunk, key: string): ChunkProblem | undefined {
  return chunk[key] === undefined ? undefined : flag(chunk, key);
}

/** The value may be anything, but JSON drops `undefined`: a writer says `null`. */
function present(chunk: Chunk, key: string): ChunkProblem | undefined {
  return key in chunk ? undefined : problem(key, 'it is missing; write null where there is no value');
}

function problem(path: string, message: string): ChunkProblem {
  return { path, message };
}
