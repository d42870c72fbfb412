import type { Answer, CanonicalMessage, MessageContent, OnLoss, RunRequest, Store } from '@intertie/core';
import type { ToolAnswer } from '@intertie/core/store';
import { takeBlobs, type BlobUrl } from './blob-files.ts';
import { ChatRefusedError } from './chat-refusal.ts';
import { ChatRequestError, type ChatRequest } from './chat-request.ts';
import { decidedAnswers } from './decided-answers.ts';
import { fromUIMessages } from '../../messages/from-ui-messages.ts';
import { metadataKey } from '../../shared/intertie-metadata.ts';
import { asFields, asNonEmptyText, type Fields } from '../../shared/read-fields.ts';
import { StoredPath } from './find-stored-branch.ts';

/** What a chat asks for, where the store has the history. */
export type StoredTurn =
  | { type: 'start'; request: RunRequest & { threadId: string } }
  | {
      type: 'answer';
      message: CanonicalMessage;
      /** The run that the chat has read last. */
      runId: string;
      answers: Array<Answer | ToolAnswer>;
      /** Where in its log the chat has left a run that waited inside its process. */
      seq?: number;
    };

export interface StoredTurnOptions {
  store: Store;
  /** Whether the chat has sent its last message alone: what is before it is the thread's active branch. */
  isAlone?: boolean;
  /** The request's own name for itself. */
  idempotencyKey?: string;
  blobUrl?: BlobUrl;
  onLoss: OnLoss;
}

/**
 * Of all that a chat sends, two things are taken: the new message of a user, and answers to what a run has asked. The rest
 * only says where that belongs.
 */
export async function readStoredTurn(request: ChatRequest, options: StoredTurnOptions): Promise<StoredTurn> {
  const { chatId, trigger, messages, messageId } = request;
  const path = new StoredPath(options.store, chatId);
  const named = messageId === undefined ? -1 : messages.findIndex(({ id }) => id === messageId);
  const place = named === -1 ? messages.length - 1 : named;
  const last = messages[place] as Fields;
  const before = messages.slice(0, place);
  if (trigger === 'regenerate-message') return regenerate(request, path, options);
  if (last.role === 'assistant') return answer(last, path, chatId, options);
  if (last.role !== 'user') throw new ChatRequestError('The last message is neither a user’s nor an assistant’s.');
  return named === -1 ? send(last, before, path, chatId, options) : edit(last, before, path, chatId, options);
}

async function send(
  message: Fields,
  before: readonly Fields[],
  path: StoredPath,
  threadId: string,
  options: StoredTurnOptions,
): Promise<StoredTurn> {
  const { idempotencyKey, isAlone = false } = options;
  const id = asNonEmptyText(message.id) as string;
  const content = userContent(message, threadId, options);
  const key = idempotencyKey ?? `chat-${await hashJson([threadId, id, content])}`;
  const parent = isAlone ? {} : { parentId: (await path.findLast(before))?.id ?? null };
  return { type: 'start', request: { threadId, message: { id, content }, ...parent, idempotencyKey: key } };
}

/** A sibling of the message as it was. One that never arrived is new. */
async function edit(
  message: Fields,
  before: readonly Fields[],
  path: StoredPath,
  threadId: string,
  options: StoredTurnOptions,
): Promise<StoredTurn> {
  const stored = await path.find(message);
  if (stored === undefined) return send(message, before, path, threadId, options);
  const { idempotencyKey } = options;
  const edited = { id: asNonEmptyText(message.id) as string, content: userContent(message, threadId, options) };
  const request = { threadId, message: edited, parentId: stored.parentId ?? null };
  return { type: 'start', request: { ...request, ...(idempotencyKey !== undefined && { idempotencyKey }) } };
}

/** A sibling of the answer that is named, or of the last one: the user's message before it is answered again. */
async function regenerate(request: ChatRequest, path: StoredPath, options: StoredTurnOptions): Promise<StoredTurn> {
  const { chatId: threadId, messages, messageId } = request;
  const { idempotencyKey } = options;
  const again = (parentId: string): StoredTurn => ({
    type: 'start',
    request: { threadId, parentId, ...(idempotencyKey !== undefined && { idempotencyKey }) },
  });
  // A chat cuts off what it makes anew before it asks; so the message is known by its id alone.
  const named = messageId === undefined ? undefined : await path.find({ id: messageId, role: 'assistant' });
  if (named?.role === 'assistant' && named.parentId !== undefined) return again(named.parentId);
  const index = messages.findLastIndex(
    ({ role, id }) => role === 'user' && (named?.role !== 'user' || id === messageId),
  );
  const user = messages[index];
  if (user === undefined) throw new ChatRequestError('No message of a user is before the one to regenerate.');
  const stored = await path.find(user);
  return stored ? again(stored.id) : send(user, messages.slice(0, index), path, threadId, options);
}

async function answer(
  message: Fields,
  path: StoredPath,
  threadId: string,
  { store, onLoss }: StoredTurnOptions,
): Promise<StoredTurn> {
  const stored = await path.find(message);
  if (stored?.role !== 'assistant') {
    throw new ChatRefusedError(
      404,
      'not-found',
      `Thread ${threadId} has no message ${String(message.id)} to go on with.`,
    );
  }
  const { registry, scope } = store;
  const slot = asFields(asFields(message.metadata)[metadataKey]);
  const find = async (runId: string | undefined) =>
    runId === undefined ? null : registry.findRun(scope, { runId, threadId });
  const read = await find(asNonEmptyText(slot.runId));
  const run = read?.messageId === stored.id ? read : await find(stored.runId);
  const decisions = run ? await registry.listDecisions(scope, { threadId, run: run.key }) : [];
  const { content } = fromUIMessages([message], { threadId, onLoss })[0] as CanonicalMessage;
  const { seq } = slot;
  return {
    type: 'answer',
    message: stored,
    runId: run?.runId ?? '',
    answers: decidedAnswers(content, decisions),
    ...(Number.isSafeInteger(seq) && Number(seq) > 0 && { seq: Number(seq) }),
  };
}

const userParts: ReadonlySet<string> = new Set(['text', 'file', 'data']);

/** A user says text, files and data; whatever else a client puts into his mouth is left out. */
function userContent(message: Fields, threadId: string, { onLoss, blobUrl }: StoredTurnOptions): MessageContent {
  const { content } = fromUIMessages([message], { threadId, onLoss })[0] as CanonicalMessage;
  const parts = content.parts.filter(({ type }) => {
    const isHis = userParts.has(type);
    if (!isHis) onLoss({ kind: 'unsupported', what: type, why: 'It is no part of a user’s message.' });
    return isHis;
  });
  if (parts.length === 0) throw new ChatRequestError('The new message is empty: it has no text, no file and no data.');
  const { metadata } = content;
  return { format: 2, parts: blobUrl ? takeBlobs(parts, blobUrl) : parts, ...(metadata && { metadata }) };
}

/** SHA-256 of a JSON value, in hexadecimal. */
async function hashJson(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const digest = new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
