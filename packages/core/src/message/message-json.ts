import { isFields } from '../json/fields.ts';
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
  /** Instead of the built-in table: how content of older formats is brought to this one. */
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

/** With a time and an offset: a date alone means another moment in every place. */
const isoTime = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:?\d\d)$/;

/**
 * A message as JSON, the one form of it for HTTP, tapes and the database: `createdAt` is an ISO string, the bytes of
 * files are base64, absent fields are absent. The result shares nothing with the message.
 */
export function encodeMessage(message: CanonicalMessage | MessageInput): JsonObject {
  checkTime(message);
  return copyJson(message, '') as JsonObject;
}

/**
 * A message from its JSON. Envelope and content are checked, older formats are upgraded, and fields and parts of types
 * that this version does not know are kept. Throws a `MessageFormatError`. The result shares its values with the input.
 */
export function decodeMessage(json: unknown, options: DecodeMessageOptions = {}): CanonicalMessage {
  const envelope = checkEnvelope(json);
  const { createdAt } = envelope;
  const time = typeof createdAt === 'string' && isoTime.test(createdAt) ? Date.parse(createdAt) : Number.NaN;
  if (Number.isNaN(time)) {
    const text = 'createdAt has to be a time as `toISOString` writes it, for example 2024-01-31T12:00:00.000Z.';
    throw new MessageFormatError('invalid', 'createdAt', text);
  }
  const content = toContent(envelope.content, options.upgrades);
  // A whole copy is much cheaper than one of what is left.
  return { ...envelope, content, createdAt: new Date(time) };
}

/**
 * Copies a message on its way into a store: `decodeMessage` of `encodeMessage` without the text between, and with the data of
 * files in any form that `normalizeFiles` reads.
 */
export function copyMessage(message: CanonicalMessage | MessageInput): CanonicalMessage {
  checkTime(message);
  // No text is made of its time, only to be read again: that takes a quarter as long as all the rest.
  const isPlain = Object.getPrototypeOf(message) === Object.prototype;
  const envelope = checkEnvelope(copyJson(isPlain ? { ...message, createdAt: null } : message, ''));
  normalizeFiles((envelope.content as { parts?: unknown }).parts);
  envelope.content = toContent(envelope.content);
  envelope.createdAt = new Date(message.createdAt);
  return envelope as CanonicalMessage;
}

function checkTime({ createdAt }: CanonicalMessage | MessageInput): void {
  if (createdAt instanceof Date && !Number.isNaN(createdAt.getTime())) return;
  throw new MessageFormatError('invalid', 'createdAt', 'createdAt has to be a Date, and a valid one.');
}

type Envelope = Omit<CanonicalMessage, 'content' | 'createdAt'> & { content: unknown; createdAt: unknown };

function checkEnvelope(json: unknown): Envelope {
  // `null` is how a message on its way in says that it is the first of a branch.
  const envelope = isFields(json) && json['parentId'] === null ? without(json, 'parentId') : json;
  refuse(envelopeShape(envelope));
  return envelope as Envelope;
}

function toContent(json: unknown, upgrades: MessageUpgrades = messageUpgrades): MessageContent {
  const content = upgradeContent(json as JsonObject, upgrades);
  checkContent(content);
  return content as unknown as MessageContent;
}

/** Throws a `MessageFormatError` that names the place, unless the content is one of format 2. */
export function checkContent(content: unknown): void {
  const failure = contentShape(content);
  refuse(failure && prefixPath('content', failure));
}

function refuse(failure: Failure | undefined): void {
  if (!failure) return;
  const { path } = failure;
  throw new MessageFormatError('invalid', path, explain(failure, path === '' ? 'the message' : path));
}

function without(value: Record<string, unknown>, key: string): Record<string, unknown> {
  const { [key]: _, ...rest } = value;
  return rest;
}
