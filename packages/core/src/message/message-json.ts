import { isFields, omit } from '../json/fields.ts';
import { content as contentShape } from '../event/content-shape.ts';
import { copyJson } from '../json/copy-json.ts';
import { normalizeFiles } from '../event/file-data.ts';
import type { JsonObject } from '../json/json.ts';
import type { MessageInput } from '../store/store.ts';
import { MessageFormatError } from '../json/message-format-error.ts';
import { messageUpgrades, upgradeContent, type MessageUpgrades } from '../event/message-upgrades.ts';
import type { CanonicalMessage, MessageContent } from '../event/message.ts';
import { explain, id, prefixPath, object, oneOf, type Failure } from '../json/shape.ts';

export type DecodeMessageOptions = {
  /** Converts content of older formats to the current one. Default: the built-in table. */
  upgrades?: MessageUpgrades;
};

const envelopeShape = object(
  {
    id,
    threadId: id,
    role: oneOf('system', 'user', 'assistant', 'tool'),
    type: oneOf('text', 'tool', 'event'),
    content: object({}),
  },
  {
    resourceId: id,
    parentId: id,
    runId: id,
    clientId: id,
    status: oneOf('streaming', 'complete', 'paused', 'aborted', 'error'),
  },
);

/** Requires a time and an offset, because a date alone depends on the time zone. */
const isoTime = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:?\d\d)$/;

/**
 * Encodes a message as JSON, the one representation for HTTP, tapes and the database: `createdAt` is an ISO string, the bytes of
 * files are base64, absent fields are absent. The result shares nothing with the message.
 */
export function encodeMessage(message: CanonicalMessage | MessageInput): JsonObject {
  checkTime(message);
  return copyJson(message, '') as JsonObject;
}

/**
 * Decodes a message from JSON. Checks envelope and content, upgrades older formats, and keeps unknown fields and part types.
 * Throws a `MessageFormatError`. The result shares its values with the input.
 */
export function decodeMessage(json: unknown, options: DecodeMessageOptions = {}): CanonicalMessage {
  const envelope = checkEnvelope(json);
  const { createdAt } = envelope;
  const time = typeof createdAt === 'string' && isoTime.test(createdAt) ? Date.parse(createdAt) : Number.NaN;
  if (Number.isNaN(time)) {
    const text = 'createdAt must be an ISO time with an offset, for example 2024-01-31T12:00:00.000Z.';
    throw new MessageFormatError('invalid', 'createdAt', text);
  }
  const content = readMessageContent(envelope.content, options.upgrades);
  // Copying the whole envelope is much faster than destructuring the remaining fields.
  return { ...envelope, content, createdAt: new Date(time) };
}

/**
 * Copies a message before it is stored: `decodeMessage(encodeMessage(message))` without formatting and parsing, and with the data
 * of files in any form that `normalizeFiles` reads.
 */
export function copyMessage(message: CanonicalMessage | MessageInput): CanonicalMessage {
  checkTime(message);
  // Not formatting and parsing the time saves a fifth of the copy.
  const isPlain = Object.getPrototypeOf(message) === Object.prototype;
  const envelope = checkEnvelope(copyJson(isPlain ? { ...message, createdAt: null } : message, ''));
  normalizeFiles((envelope.content as { parts?: unknown }).parts);
  envelope.content = readMessageContent(envelope.content);
  envelope.createdAt = new Date(message.createdAt);
  return envelope as CanonicalMessage;
}

function checkTime({ createdAt }: CanonicalMessage | MessageInput): void {
  if (createdAt instanceof Date && !Number.isNaN(createdAt.getTime())) return;
  throw new MessageFormatError('invalid', 'createdAt', 'createdAt must be a valid Date.');
}

type Envelope = Omit<CanonicalMessage, 'content' | 'createdAt'> & { content: unknown; createdAt: unknown };

function checkEnvelope(json: unknown): Envelope {
  // An incoming message has `parentId: null` if it is the first of a branch.
  const envelope = isFields(json) && json['parentId'] === null ? omit(json, 'parentId') : json;
  throwFailure(envelopeShape(envelope));
  return envelope as Envelope;
}

function readMessageContent(json: unknown, upgrades: MessageUpgrades = messageUpgrades): MessageContent {
  const content = upgradeContent(json as JsonObject, upgrades);
  checkContent(content);
  return content as unknown as MessageContent;
}

/** Throws a `MessageFormatError` with the path of the first problem, unless the content is valid in format 2. */
export function checkContent(content: unknown): void {
  const failure = contentShape(content);
  throwFailure(failure && prefixPath('content', failure));
}

function throwFailure(failure: Failure | undefined): void {
  if (!failure) return;
  const { path } = failure;
  throw new MessageFormatError('invalid', path, explain(failure, path === '' ? 'the message' : path));
}
