import { encodeMessage, StoreError, type CanonicalMessage } from '@intertie/core';
import { equalJson } from '@intertie/core/internal';
import { growMessage, isStoreText, replaceMessage, type SaveMode } from '@intertie/core/store';

/** A message on its way in, and the parent it asks for: null makes it the first of a branch, undefined leaves it to us. */
export type Incoming = { message: CanonicalMessage; parentId: string | null | undefined };

/** A message as it is stored. */
export type StoredMessage = {
  message: CanonicalMessage;
  isDeleted: boolean;
  /** The run that alone may write it now, by the client's id. */
  busyRunId?: string;
};

/** What a call does to one thread. */
export type MessageDraft = {
  /** As they will be, in the order in which they are written. */
  inserts: CanonicalMessage[];
  updates: CanonicalMessage[];
};

/** What a call does to a thread as it was read. Throws what refuses the call; nothing has been written then. */
export function draftMessages(
  threadId: string,
  headId: string | undefined,
  stored: ReadonlyMap<string, StoredMessage>,
  incoming: readonly Incoming[],
  mode: SaveMode,
): MessageDraft {
  const writes = new Map<string, CanonicalMessage>();
  let previousId: string | undefined;
  for (const { message, parentId } of incoming) {
    const row = stored.get(message.id);
    refuse(threadId, message.id, row);
    const before = writes.get(message.id) ?? row?.message;
    if (before) {
      const changed = mode === 'replace' ? replaceMessage(before, message) : growMessage(before, message);
      if (!equalJson(encodeMessage(before), encodeMessage(changed))) writes.set(message.id, changed);
    } else {
      const parent = parentId === undefined ? (previousId ?? headId) : (parentId ?? undefined);
      if (parent !== undefined && parent !== headId && !writes.has(parent) && !isThere(stored.get(parent))) {
        const text = `parentId "${parent}" of message "${message.id}" is no message of thread "${threadId}". Save it first.`;
        throw new StoreError('not-found', text);
      }
      writes.set(message.id, newMessage(message, parent));
    }
    previousId = message.id;
  }
  const all = [...writes.values()];
  return {
    inserts: all.filter(({ id }) => !stored.has(id)),
    updates: all.filter(({ id }) => stored.has(id)),
  };
}

function isThere(row: StoredMessage | undefined): boolean {
  return row !== undefined && !row.isDeleted;
}

function newMessage(message: CanonicalMessage, parentId: string | undefined): CanonicalMessage {
  const made: CanonicalMessage = { status: 'complete', ...message };
  if (parentId !== undefined) made.parentId = parentId;
  else if (made.parentId !== undefined) delete made.parentId;
  return made;
}

function refuse(threadId: string, id: string, row: StoredMessage | undefined): void {
  if (row?.isDeleted) {
    const text = `Message "${id}" of thread "${threadId}" was deleted. Save it under another id.`;
    throw new StoreError('not-found', text);
  }
  if (row?.busyRunId !== undefined) {
    const text = `Message "${id}" is written by run "${row.busyRunId}", and by nobody else until that has ended.`;
    throw new StoreError('busy', text, { runId: row.busyRunId });
  }
}

/**
 * The messages, if a thread can be given them without looking at it first: all ids are new in the call, and all parents
 * are among them, or the thread's head. `head` is what the first one takes for the head, if it says so.
 */
export function draftBlindly(
  incoming: readonly Incoming[],
): { inserts: CanonicalMessage[]; first: 'head' | 'given' | { head: string } } | undefined {
  const inserts: CanonicalMessage[] = [];
  const ids = new Set<string>();
  for (const [index, { message, parentId }] of incoming.entries()) {
    if (ids.has(message.id)) return undefined;
    const parent = parentId === undefined ? inserts.at(-1)?.id : (parentId ?? undefined);
    if (index > 0 && parent !== undefined && !ids.has(parent)) return undefined;
    ids.add(message.id);
    inserts.push(newMessage(message, parent));
  }
  const first = incoming[0]?.parentId;
  if (first !== undefined && first !== null && !isStoreText(first)) return undefined;
  return { inserts, first: first === undefined ? 'head' : first === null ? 'given' : { head: first } };
}
