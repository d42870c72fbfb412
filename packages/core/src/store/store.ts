import type { Blobs } from './blobs.ts';
import type { Hints } from './hints.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { CanonicalMessage, FilePart, PartBase, MessageContent, MessagePart, Thread } from '../event/message.ts';
import type { Registry } from './registry.ts';
import type { RunLog } from './run-log.ts';
import type { Scope } from './scope.ts';

/** A file given by its bytes, for example a `Buffer`. They are stored as base64. */
export type FileBytesPart = PartBase &
  Omit<FilePart, 'data' | 'url' | 'reference'> & {
    type: 'file';
    data: Uint8Array | ArrayBuffer;
  };
/**
 * A message to save. The `data` of a file is bytes, base64 (with or without padding and line breaks) or a data URL, whose media
 * type is used if the part has none; padded base64 is stored. `parentId: null` makes the message the first of its own branch;
 * without a `parentId`, a new message follows the previous one of the call, or the thread's head.
 */
export type MessageInput = Omit<CanonicalMessage, 'content' | 'parentId'> & {
  parentId?: string | null;
  content: Omit<MessageContent, 'parts'> & { parts: Array<MessagePart | FileBytesPart> };
};

export type ListMessages = {
  threadId: string;
  /**
   * Maximum number of messages: the *last* n, whatever `orderBy` is (after `cursor.after`: the first n). In a thread of
   * m1 to m9, `{ limit: 3 }` gives m7, m8, m9 and `{ limit: 3, orderBy: 'desc' }` gives m9, m8, m7. Default: no limit.
   */
  limit?: number;
  /** Order of the result; it does not decide which messages are in it. Default: `asc`, oldest first. */
  orderBy?: 'asc' | 'desc';
  /** Message of the branch; it is not part of the result. */
  cursor?: { before: string } | { after: string };
  /** Last message of the branch. Default: that of the active branch. */
  leafId?: string;
};

export type SaveMessages = {
  messages: MessageInput[];
  /** Makes the call repeatable: the same key and body is a no-op, another body an error (`key-reused`). */
  operationKey?: string;
  /** Compare-and-append: the thread must be at this version (0: must not exist), else `version-conflict`. */
  expectedVersion?: number;
  /**
   * How a message whose id is stored changes. `merge` (the default) only adds to it, and refuses a text that neither extends the
   * stored one nor is a prefix of it (`content-conflict`). `replace` replaces its content and needs `expectedVersion`; settled
   * calls stay, and a message whose run is live or waits for an answer is refused (`busy`).
   */
  mode?: 'merge' | 'replace';
};

/** Messages that the call wrote, as they are now stored, and the version of the thread of the last one. */
export type SavedMessages = { messages: CanonicalMessage[]; version: number };

/** A change of a thread since a version. A tombstone stands for a deleted message. */
export type MessageChange = { version: number } & (
  | { type: 'message'; message: CanonicalMessage }
  | { type: 'tombstone'; messageId: string }
);

export type ListThreads = {
  resourceId?: string;
  /** Terms that the title contains, case-insensitive. */
  search?: string;
  /** Whether to list only threads whose head is paused. */
  paused?: true;
  limit?: number;
  /** `cursor` of the previous page. */
  cursor?: string;
};

/** Thread of a list. `paused`: the status of its head, so the thread waits for a message or for answers. */
export type ListedThread = Thread & { paused?: true };

/** Threads sorted by `updatedAt`, newest first. The last page has no `cursor`. */
export type ThreadPage = { threads: ListedThread[]; cursor?: string };

export type SearchMessages = {
  /** Terms. Each has to be the beginning of a word of the message's text, case-insensitive. Without terms nothing is found. */
  search: string;
  /** Maximum number of messages. Default: 20. */
  limit?: number;
};

/** Message that a search found. `text` is the beginning of its text parts. */
export type MessageMatch = {
  threadId: string;
  messageId: string;
  role: CanonicalMessage['role'];
  createdAt: Date;
  text: string;
  /** Title of the thread. */
  title?: string;
};

export type ThreadInput = {
  id: string;
  resourceId?: string;
  title?: string;
  metadata?: JsonObject;
  headId?: string;
  /** Whether lists leave the thread out, and the sweeper deletes it when the logs of its runs expire. */
  hidden?: boolean;
  createdAt?: Date;
};

/** Conversations, bound to one scope. */
export interface MemoryStore {
  listMessages(query: ListMessages): Promise<CanonicalMessage[]>;
  /** Inserts messages, or merges them into stored ones by thread and id (see `mode`). Creates an unknown thread. */
  saveMessages(request: SaveMessages): Promise<SavedMessages>;
  getMessage(query: { threadId: string; messageId: string }): Promise<CanonicalMessage | null>;
  /** Lists the message and those that share its parent, in the order of creation. */
  listSiblings(query: { threadId: string; messageId: string }): Promise<CanonicalMessage[]>;
  /**
   * Lists the changes after a version in order, each message once and in its current state. `limit` never splits the changes of one
   * version, so a caller continues from the version of the last change.
   */
  listChanges(query: { threadId: string; since: number; limit?: number }): Promise<MessageChange[]>;
  /** Deletes the message and all its descendants. The head moves to the nearest remaining message. */
  deleteMessage(request: { threadId: string; messageId: string }): Promise<void>;

  /** Finds messages by the words of their text in all threads that are listed, newest first. */
  searchMessages(query: SearchMessages): Promise<MessageMatch[]>;

  getThreadById(query: { threadId: string }): Promise<Thread | null>;
  /** Creates the thread, or changes the given fields. `headId` must be one of its messages. */
  saveThread(request: { thread: ThreadInput }): Promise<Thread>;
  listThreads(query?: ListThreads): Promise<ThreadPage>;
  getVersion(query: { threadId: string }): Promise<number>;
  /** Deletes the thread with everything it owns, and stops its run. Deleting a missing thread is not an error. */
  deleteThread(request: { threadId: string }): Promise<void>;

  /** Exports everything that the scope owns, one JSON value at a time. */
  exportAll(): AsyncIterable<Json>;
  /** Deletes everything that the scope owns. */
  purgeAll(): Promise<void>;
}

/** Open connections of a pool, those of them that are idle, and the requests that wait for one. */
export type ConnectionCounts = { total: number; idle: number; waiting: number };

/** A complete store: the conversations of one scope, and the components for runs, whose methods take the scope first. */
export interface Store extends MemoryStore {
  readonly scope: Scope;
  readonly registry: Registry;
  readonly log: RunLog;
  readonly hints: Hints;
  readonly blobs: Blobs;
  /** Connections of each pool of the store, for metrics. Absent where the store has no pools. */
  connections?(): { readonly [pool: string]: ConnectionCounts };
  /** The same store, bound to another scope. */
  forScope(scope: string): Store;
  /** Error of a write that the database refused in the last seconds, for example because its disk is full. */
  refusedWrite?(): Error | undefined;
  close(): Promise<void>;
}
