import { RunRefusedError } from '@intertie/core';
import type { Answer, CanonicalMessage, MessageContent, OnLoss, RunRequest, Store } from '@intertie/core';
import type { ToolAnswer } from '@intertie/core/store';
import { toStoreUrls, type BlobUrl } from './blob-urls.ts';
import { ChatRequestError, type ChatRequest } from './chat-request.ts';
import { extractDecisionAnswers } from './chat-answers.ts';
import { fromUIMessages } from '../../messages/from-ui-messages.ts';
import { metadataKey } from '../../shared/intertie-metadata.ts';
import { asFields, asNonEmptyText, type Fields } from '../../shared/read-fields.ts';
import { StoredBranch } from './stored-branch.ts';

/** Request of a chat whose history is in the store: starts a run, or answers one. */
export type StoredRequest =
  | { type: 'start'; request: RunRequest & { threadId: string } }
  | {
      type: 'answer';
      message: CanonicalMessage;
      /** Run that the chat has read last. */
      runId: string;
      answers: Array<Answer | ToolAnswer>;
      /** Sequence number up to which the chat has read a run that waits inside its process. */
      seq?: number;
    };

export interface StoredRequestOptions {
  store: Store;
  /** Whether the chat sent only its last message, which then follows the thread's active branch. */
  isSingleMessage?: boolean;
  /** `idempotency-key` header of the request. */
  idempotencyKey?: string;
  blobUrl?: BlobUrl;
  onLoss: OnLoss;
}

/**
 * Reads the new user message or the answers from a chat request. The rest of the sent history is untrusted: it only serves
 * to find the parent in the store.
 */
export async function readStoredRequest(request: ChatRequest, options: StoredRequestOptions): Promise<StoredRequest> {
  const { chatId, trigger, messages, messageId } = request;
  const branch = new StoredBranch(options.store, chatId);
  const named = messageId === undefined ? -1 : messages.findIndex(({ id }) => id === messageId);
  const index = named === -1 ? messages.length - 1 : named;
  const last = messages[index] as Fields;
  const before = messages.slice(0, index);
  if (trigger === 'regenerate-message') return readRegeneration(request, branch, options);
  if (last.role === 'assistant') return readAnswers(last, branch, chatId, options);
  if (last.role !== 'user') throw new ChatRequestError('The last message must be from the user or the assistant.');
  const read = named === -1 ? readNewMessage : readEdit;
  return read(last, before, branch, chatId, options);
}

async function readNewMessage(
  message: Fields,
  before: readonly Fields[],
  branch: StoredBranch,
  threadId: string,
  options: StoredRequestOptions,
): Promise<StoredRequest> {
  const { idempotencyKey, isSingleMessage = false } = options;
  const id = asNonEmptyText(message.id) as string;
  const content = readUserContent(message, threadId, options);
  const key = idempotencyKey ?? `chat-${await hashJson([threadId, id, content])}`;
  const parent = isSingleMessage ? {} : { parentId: (await branch.findLast(before))?.id ?? null };
  return { type: 'start', request: { threadId, message: { id, content }, ...parent, idempotencyKey: key } };
}

/** An edit becomes a sibling of the stored message. If that message was never stored, it is a new one. */
async function readEdit(
  message: Fields,
  before: readonly Fields[],
  branch: StoredBranch,
  threadId: string,
  options: StoredRequestOptions,
): Promise<StoredRequest> {
  const stored = await branch.find(message);
  if (stored === undefined) return readNewMessage(message, before, branch, threadId, options);
  const { idempotencyKey } = options;
  const edited = { id: asNonEmptyText(message.id) as string, content: readUserContent(message, threadId, options) };
  const request = { threadId, message: edited, parentId: stored.parentId ?? null };
  return { type: 'start', request: { ...request, ...(idempotencyKey !== undefined && { idempotencyKey }) } };
}

/** Starts a sibling of the named answer, or of the last one, under the same user message. */
async function readRegeneration(
  request: ChatRequest,
  branch: StoredBranch,
  options: StoredRequestOptions,
): Promise<StoredRequest> {
  const { chatId: threadId, messages, messageId } = request;
  const { idempotencyKey } = options;
  const startUnder = (parentId: string): StoredRequest => ({
    type: 'start',
    request: { threadId, parentId, ...(idempotencyKey !== undefined && { idempotencyKey }) },
  });
  // `useChat` removes the message to regenerate before it sends the request, so only the id is known.
  const named = messageId === undefined ? undefined : await branch.find({ id: messageId, role: 'assistant' });
  if (named?.role === 'assistant' && named.parentId !== undefined) return startUnder(named.parentId);
  const index = messages.findLastIndex(
    ({ role, id }) => role === 'user' && (named?.role !== 'user' || id === messageId),
  );
  const user = messages[index];
  if (user === undefined) throw new ChatRequestError('The message to regenerate has no user message before it.');
  const stored = await branch.find(user);
  return stored ? startUnder(stored.id) : readNewMessage(user, messages.slice(0, index), branch, threadId, options);
}

async function readAnswers(
  message: Fields,
  branch: StoredBranch,
  threadId: string,
  { store, onLoss }: StoredRequestOptions,
): Promise<StoredRequest> {
  const stored = await branch.find(message);
  if (stored?.role !== 'assistant') {
    throw new RunRefusedError({ code: 'not-found', what: 'message', threadId, id: String(message.id) });
  }
  const { registry, scope } = store;
  const metadata = asFields(asFields(message.metadata)[metadataKey]);
  const find = async (runId: string | undefined) =>
    runId === undefined ? null : registry.findRun(scope, { runId, threadId });
  const lastRead = await find(asNonEmptyText(metadata.runId));
  const run = lastRead?.messageId === stored.id ? lastRead : await find(stored.runId);
  const decisions = run ? await registry.listDecisions(scope, { threadId, run: run.key }) : [];
  const { content } = fromUIMessages([message], { threadId, onLoss })[0] as CanonicalMessage;
  const { seq } = metadata;
  return {
    type: 'answer',
    message: stored,
    runId: run?.runId ?? '',
    answers: extractDecisionAnswers(content, decisions),
    ...(Number.isSafeInteger(seq) && Number(seq) > 0 && { seq: Number(seq) }),
  };
}

const userPartTypes: ReadonlySet<string> = new Set(['text', 'file', 'data']);

/** Decodes a user message and drops parts that only an assistant can write, such as tool results. */
function readUserContent(message: Fields, threadId: string, { onLoss, blobUrl }: StoredRequestOptions): MessageContent {
  const { content } = fromUIMessages([message], { threadId, onLoss })[0] as CanonicalMessage;
  const parts = content.parts.filter(({ type }) => {
    const isUsers = userPartTypes.has(type);
    if (!isUsers) onLoss({ kind: 'unsupported', what: type, why: 'A user message cannot contain this part.' });
    return isUsers;
  });
  if (parts.length === 0) throw new ChatRequestError('The new message is empty. Send text, a file or data.');
  const { metadata } = content;
  return { format: 2, parts: blobUrl ? toStoreUrls(parts, blobUrl) : parts, ...(metadata && { metadata }) };
}

/** SHA-256 of a JSON value, in hexadecimal. */
async function hashJson(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const digest = new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
