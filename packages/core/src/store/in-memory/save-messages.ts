import { defined } from '../../json/fields.ts';
import { mergeMessage, replaceMessage } from '../../message/merge-message.ts';
import { equalJson } from '../../json/json-patch.ts';
import type { MessageInput, SavedMessages, SaveMessages } from '../store.ts';
import { encodeMessage } from '../../message/message-json.ts';
import type { CanonicalMessage } from '../../event/message.ts';
import type { Scope } from '../scope.ts';
import { sha256 } from '../../json/sha256.ts';
import { StoreError } from '../store-error.ts';
import { checkStoreId } from '../store-id.ts';
import { readMessage } from '../rules/read-message.ts';
import { readSaveMode, type SaveMode } from '../rules/save-mode.ts';
import { addMessage, changeMessage, createThread, findMessage, findThread, nextVersion } from './conversation.ts';
import { findRequest, storeRequest } from './requests.ts';
import type { MessageRow, Tables, ThreadRow } from './tables.ts';

/** Planned changes of one thread. Nothing is written before the whole call is checked. */
type Draft = {
  threadId: string;
  resourceId?: string;
  thread?: ThreadRow;
  /** New and changed messages, in the order in which they are written. */
  writes: Map<string, CanonicalMessage>;
  /** Previous message of the call. */
  previousId?: string;
};

/** Inserts or merges messages; see `MemoryStore.saveMessages`. */
export async function saveMessages(tables: Tables, scope: Scope, request: SaveMessages): Promise<SavedMessages> {
  const inputs = request.messages.map((input) => ({ parentId: input.parentId, message: readMessage(input) }));
  const { operationKey } = request;
  if (operationKey !== undefined) checkStoreId('operationKey', operationKey);
  const mode = readSaveMode(request);
  const hash = operationKey === undefined ? '' : await hashMessages(request.messages, mode);
  // No await from here on, so the rest of the call is atomic.
  const earlier = operationKey === undefined ? undefined : findRequest(tables, scope, operationKey);
  if (earlier) {
    if (earlier.hash !== hash) {
      const text = 'The operationKey was used for another call. Use a new key for each request body.';
      throw new StoreError('key-reused', text);
    }
    return toSavedMessages(earlier.messages.filter((row) => !row.deleted));
  }
  const drafts = new Map<string, Draft>();
  for (const { message, parentId } of inputs) {
    let draft = drafts.get(message.threadId);
    if (!draft) drafts.set(message.threadId, (draft = newDraft(tables, scope, message)));
    addToDraft(draft, message, parentId, mode);
  }
  if (request.expectedVersion !== undefined) checkVersion([...drafts.values()], request.expectedVersion);

  for (const draft of drafts.values()) draft.thread = writeDraft(tables, scope, draft);
  const rows = inputs.map(({ message }) => drafts.get(message.threadId)!.thread!.messages.get(message.id)!);
  if (operationKey !== undefined) storeRequest(tables, scope, operationKey, { hash, run: null, messages: rows });
  return toSavedMessages(rows);
}

function toSavedMessages(rows: readonly MessageRow[]): SavedMessages {
  return {
    messages: rows.map((row) => structuredClone(row.message)),
    version: rows.at(-1)?.thread.version ?? 0,
  };
}

function hashMessages(messages: readonly MessageInput[], mode: SaveMode): Promise<string> {
  const text = JSON.stringify(messages.map((message) => encodeMessage(message)));
  return sha256(new TextEncoder().encode(mode === 'merge' ? text : `${mode} ${text}`));
}

function newDraft(tables: Tables, scope: Scope, { threadId, resourceId }: CanonicalMessage): Draft {
  const thread = findThread(tables, scope, threadId);
  return { threadId, writes: new Map(), ...defined({ thread, resourceId }) };
}

function addToDraft(
  draft: Draft,
  incoming: CanonicalMessage,
  parentId: string | null | undefined,
  mode: SaveMode,
): void {
  const row = draft.thread?.messages.get(incoming.id);
  if (row?.deleted) {
    const text = `Message "${incoming.id}" of thread "${draft.threadId}" was deleted. Use another id.`;
    throw new StoreError('not-found', text);
  }
  if (row?.run?.state === 'running' || row?.run?.state === 'queued') {
    const text = `Message "${incoming.id}" belongs to run "${row.run.runId}". Save it after the run has ended.`;
    throw new StoreError('busy', text, { runId: row.run.runId });
  }
  const stored = draft.writes.get(incoming.id) ?? row?.message;
  if (stored) {
    const changed = mode === 'replace' ? replaceMessage(stored, incoming) : mergeMessage(stored, incoming);
    if (!equalJson(encodeMessage(stored), encodeMessage(changed))) draft.writes.set(incoming.id, changed);
  } else {
    const parent = parentId === undefined ? (draft.previousId ?? draft.thread?.headId) : (parentId ?? undefined);
    if (parent !== undefined && !draft.writes.has(parent) && !findMessage(draft.thread, parent)) {
      const text = `parentId "${parent}" of message "${incoming.id}" is not a message of thread "${draft.threadId}". Save it first.`;
      throw new StoreError('not-found', text);
    }
    const { parentId: _, ...rest } = incoming;
    const message: CanonicalMessage = {
      status: 'complete',
      ...rest,
      ...(parent !== undefined && { parentId: parent }),
    };
    draft.writes.set(incoming.id, message);
  }
  draft.previousId = incoming.id;
}

function checkVersion(drafts: readonly Draft[], expected: number): void {
  const [draft] = drafts;
  if (!draft || drafts.length > 1) {
    const text = `expectedVersion applies to one thread, but the call has messages of ${drafts.length}. Make one call per thread.`;
    throw new StoreError('invalid', text);
  }
  const version = draft.thread?.version ?? 0;
  if (version !== expected) {
    const text = `Thread "${draft.threadId}" is at version ${version}, not ${expected}. Read the changes and try again.`;
    throw new StoreError('version-conflict', text, { version });
  }
}

function writeDraft(tables: Tables, scope: Scope, draft: Draft): ThreadRow {
  const { threadId, resourceId } = draft;
  const thread = draft.thread ?? createThread(tables, scope, { id: threadId, ...defined({ resourceId }) });
  if (draft.writes.size === 0) return thread;
  const version = nextVersion(tables, thread);
  for (const message of draft.writes.values()) {
    const row = thread.messages.get(message.id);
    if (row) changeMessage(row, message, version);
    else addMessage(thread, message, version);
  }
  return thread;
}
