import { encodeMessage, StoreError, type CanonicalMessage } from '@intertie/core';
import { equalJson } from '@intertie/core/internal';
import { mergeMessage, isStoreText, replaceMessage, type SaveMode } from '@intertie/core/store';

/** A message to save. `parentId` null makes it the first of a branch; undefined appends it to the previous message. */
export type IncomingMessage = { message: CanonicalMessage; parentId: string | null | undefined };

/** A stored message and its state. */
export type StoredMessage = {
  message: CanonicalMessage;
  isDeleted: boolean;
  /** Client run id of the live or queued run that owns the message. */
  busyRunId?: string;
};

/** Writes of one call to one thread, in order, with the complete new messages. */
export type MessagePlan = {
  inserts: CanonicalMessage[];
  updates: CanonicalMessage[];
};

/** Computes the writes of a call from the stored thread. Throws if the call is invalid; nothing has been written then. */
export function planMessages(
  threadId: string,
  headId: string | undefined,
  stored: ReadonlyMap<string, StoredMessage>,
  incoming: readonly IncomingMessage[],
  mode: SaveMode,
): MessagePlan {
  const writes = new Map<string, CanonicalMessage>();
  let previousId: string | undefined;
  for (const { message, parentId } of incoming) {
    const row = stored.get(message.id);
    refuse(threadId, message.id, row);
    const before = writes.get(message.id) ?? row?.message;
    if (before) {
      const changed = mode === 'replace' ? replaceMessage(before, message) : mergeMessage(before, message);
      if (!equalJson(encodeMessage(before), encodeMessage(changed))) writes.set(message.id, changed);
    } else {
      const parent = parentId === undefined ? (previousId ?? headId) : (parentId ?? undefined);
      if (parent !== undefined && parent !== headId && !writes.has(parent) && !isThere(stored.get(parent))) {
        const text = `parentId "${parent}" of message "${message.id}" is not a message of thread "${threadId}". Save it first.`;
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
    const text = `Message "${id}" of thread "${threadId}" was deleted. Use another id.`;
    throw new StoreError('not-found', text);
  }
  if (row?.busyRunId !== undefined) {
    const text = `Message "${id}" belongs to run "${row.busyRunId}". Save it after the run has ended.`;
    throw new StoreError('busy', text, { runId: row.busyRunId });
  }
}

/**
 * Computes the writes without reading the thread, assuming that all ids are new. Returns undefined if an id occurs twice or a
 * parent is neither in the call nor possibly the head of the thread. `first` is the parent of the first message.
 */
export function planAsNew(
  incoming: readonly IncomingMessage[],
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
