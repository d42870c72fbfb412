import { isJsonRecord, isMetadata, isTextRecord } from './is-ui-metadata.ts';
import { isFields, type Fields } from '../../shared/read-fields.ts';
import type { UIMessageChunkOf, UIMessageVersion } from './ui-message-chunk.ts';

/** Validation error of a chunk, with the path of the field. */
export type ChunkProblem = { path: string; message: string };

/**
 * Validates a UI message chunk with the same result as `uiMessageChunkSchema` of that version, but faster: the schema tries
 * each variant and copies the value; this function switches on the type and allocates only for errors. Like the schema, it
 * accepts unknown fields.
 */
export function validateUIMessageChunk(chunk: unknown, version: UIMessageVersion = 6): ChunkProblem | undefined {
  if (!isFields(chunk)) return problem('', 'a chunk must be an object');
  switch (chunk.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return text(chunk, 'id') ?? text(chunk, 'delta') ?? meta(chunk);
    case 'tool-input-delta':
      return text(chunk, 'toolCallId') ?? text(chunk, 'inputTextDelta');
    case 'text-end':
      return (
        text(chunk, 'id') ?? meta(chunk) ?? (version === 7 ? checkCitations(chunk.citations, 'citations') : undefined)
      );
    case 'text-start':
    case 'reasoning-start':
    case 'reasoning-end':
      return text(chunk, 'id') ?? meta(chunk);
    case 'tool-input-start':
      return checkCall(chunk) ?? checkEncoding(chunk);
    case 'tool-input-available':
      return checkCall(chunk) ?? present(chunk, 'input');
    case 'tool-input-error':
      return checkCall(chunk) ?? present(chunk, 'input') ?? text(chunk, 'errorText');
    case 'tool-approval-request':
      return (
        text(chunk, 'approvalId') ??
        text(chunk, 'toolCallId') ??
        maybeText(chunk, 'signature') ??
        (version === 7 ? (maybeText(chunk, 'reason') ?? maybeFlag(chunk, 'isAutomatic')) : undefined)
      );
    case 'tool-output-available':
      return (
        text(chunk, 'toolCallId') ??
        present(chunk, 'output') ??
        checkToolFields(chunk) ??
        maybeFlag(chunk, 'preliminary')
      );
    case 'tool-output-error':
      return text(chunk, 'toolCallId') ?? text(chunk, 'errorText') ?? checkToolFields(chunk);
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
      return checkFinishReason(chunk, version);
    case 'abort':
      return maybeText(chunk, 'reason');
    case 'error':
      return text(chunk, 'errorText');
    case 'message-metadata':
      return present(chunk, 'messageMetadata');
    default:
      return version === 7 ? checkChunk7(chunk) : checkDataChunk(chunk);
  }
}

/** Type guard for `validateUIMessageChunk`. */
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

/** Whether a version has chunks of this type. */
export function isUIMessageChunkType(type: unknown, version: UIMessageVersion = 6): boolean {
  return (version === 7 ? types7 : types6).has(type) || (typeof type === 'string' && type.startsWith('data-'));
}

function checkChunk7(chunk: Fields): ChunkProblem | undefined {
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
      return text(chunk, 'id') ?? checkSteeringParts(chunk.parts);
    case 'reset-step':
      return undefined;
    default:
      return checkDataChunk(chunk);
  }
}

function checkDataChunk(chunk: Fields): ChunkProblem | undefined {
  if (typeof chunk.type !== 'string') return problem('type', 'must be a string');
  if (!chunk.type.startsWith('data-')) return problem('type', `unknown chunk type "${chunk.type}"`);
  return present(chunk, 'data') ?? maybeText(chunk, 'id') ?? maybeFlag(chunk, 'transient');
}

function checkCall(chunk: Fields): ChunkProblem | undefined {
  return text(chunk, 'toolCallId') ?? text(chunk, 'toolName') ?? maybeText(chunk, 'title') ?? checkToolFields(chunk);
}

/** Checks the optional fields that calls and results share. */
function checkToolFields(chunk: Fields): ChunkProblem | undefined {
  return maybeFlag(chunk, 'providerExecuted') ?? maybeFlag(chunk, 'dynamic') ?? meta(chunk) ?? toolMeta(chunk);
}

function checkEncoding({ inputEncoding }: Fields): ChunkProblem | undefined {
  if (inputEncoding === undefined || inputEncoding === 'json' || inputEncoding === 'text') return undefined;
  return problem('inputEncoding', 'must be "json" or "text"');
}

function checkFinishReason({ finishReason: reason }: Fields, version: UIMessageVersion): ChunkProblem | undefined {
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
  return problem('finishReason', `ai ${version} does not have this finish reason`);
}

function checkCitations(value: unknown, path: string): ChunkProblem | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return problem(path, 'must be an array');
  for (let index = 0; index < value.length; index += 1) {
    const found = checkCitation(value[index], `${path}[${index}]`);
    if (found) return found;
  }
  return undefined;
}

function checkCitation(value: unknown, path: string): ChunkProblem | undefined {
  if (!isFields(value)) return problem(path, 'must be an object');
  const { source } = value;
  if (!isFields(source) || source.type !== 'source') return problem(`${path}.source`, 'must be a source');
  const found =
    source.sourceType === 'url'
      ? (text(source, 'id') ?? text(source, 'url') ?? maybeText(source, 'title') ?? meta(source))
      : source.sourceType === 'document'
        ? (text(source, 'id') ??
          text(source, 'mediaType') ??
          text(source, 'title') ??
          maybeText(source, 'filename') ??
          meta(source))
        : problem('sourceType', 'must be "url" or "document"');
  if (found) return problem(`${path}.source.${found.path}`, found.message);
  return maybeIndex(value, 'startIndex') ?? maybeIndex(value, 'endIndex') ?? maybeText(value, 'citedText');
}

function maybeIndex(value: Fields, key: string): ChunkProblem | undefined {
  const index = value[key];
  if (index === undefined || (Number.isSafeInteger(index) && (index as number) >= 0)) return undefined;
  return problem(key, 'must be a non-negative integer');
}

function checkSteeringParts(parts: unknown): ChunkProblem | undefined {
  if (!Array.isArray(parts)) return problem('parts', 'must be an array');
  for (let index = 0; index < parts.length; index += 1) {
    const found = checkSteeringPart(parts[index]);
    if (found) return problem(`parts[${index}].${found.path}`, found.message);
  }
  return undefined;
}

function checkSteeringPart(part: unknown): ChunkProblem | undefined {
  if (!isFields(part)) return problem('', 'a part must be an object');
  if (part.type === 'text') return text(part, 'text') ?? meta(part);
  if (part.type !== 'file') return problem('type', 'must be "text" or "file"');
  return (
    text(part, 'mediaType') ?? text(part, 'url') ?? maybeText(part, 'filename') ?? checkReference(part) ?? meta(part)
  );
}

function checkReference({ providerReference }: Fields): ChunkProblem | undefined {
  if (providerReference === undefined || isTextRecord(providerReference)) return undefined;
  return problem('providerReference', 'must be a JSON object');
}

function meta({ providerMetadata }: Fields): ChunkProblem | undefined {
  if (providerMetadata === undefined || isMetadata(providerMetadata)) return undefined;
  return problem('providerMetadata', 'must be an object of JSON objects');
}

function toolMeta({ toolMetadata: value }: Fields): ChunkProblem | undefined {
  if (value === undefined || isJsonRecord(value)) return undefined;
  return problem('toolMetadata', 'must be a JSON object');
}

function text(chunk: Fields, key: string): ChunkProblem | undefined {
  return typeof chunk[key] === 'string' ? undefined : problem(key, 'must be a string');
}

function flag(chunk: Fields, key: string): ChunkProblem | undefined {
  return typeof chunk[key] === 'boolean' ? undefined : problem(key, 'must be a boolean');
}

function maybeText(chunk: Fields, key: string): ChunkProblem | undefined {
  return chunk[key] === undefined ? undefined : text(chunk, key);
}

function maybeFlag(chunk: Fields, key: string): ChunkProblem | undefined {
  return chunk[key] === undefined ? undefined : flag(chunk, key);
}

/** Accepts any value, including null, but the key must exist. */
function present(chunk: Fields, key: string): ChunkProblem | undefined {
  return key in chunk ? undefined : problem(key, 'is missing; write null if there is no value');
}

function problem(path: string, message: string): ChunkProblem {
  return { path, message };
}
