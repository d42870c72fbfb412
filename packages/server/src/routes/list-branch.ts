import { encodeMessage, type CanonicalMessage, type Protocol, type Store, type Thread } from '@intertie/core';
import { toPublicMessage } from '@intertie/core/http';
import { defined } from '@intertie/core/internal';
import { toLiveInfo, type LiveInfo } from './api.ts';
import type { Host } from '../host/host.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import { withBlobUrls } from '../host/blob-urls.ts';

export type BranchQuery = {
  /** Format of a protocol, or `storedFormat`. */
  format: string;
  leaf?: string;
  before?: string;
  after?: string;
  limit?: number;
};

/** Format in which messages are stored. */
export const storedFormat = 'canonical';

/** Names of the formats that the protocols have for messages. */
export function listMessageFormats(protocols: readonly Protocol[]): string[] {
  return [...protocols.flatMap(({ messages }) => messages?.format ?? []), storedFormat];
}

/** Siblings of messages that have any, in order of creation, and the index of the message among them. */
export type Branches = { [messageId: string]: { siblings: string[]; index: number } };

/** Lists the messages of one branch in a client's format, with the siblings of each message and the live run. */
export async function listBranch(
  { trees, errorText, protocols }: Pick<Host, 'trees' | 'errorText' | 'protocols'>,
  store: Store,
  threadId: string,
  { format, leaf, before, after, limit }: BranchQuery,
): Promise<{ messages: unknown[]; branches: Branches; version: number; live?: LiveInfo }> {
  const [thread, live] = await Promise.all([
    store.getThreadById({ threadId }),
    store.registry.liveRun(store.scope, { threadId }),
  ]);
  if (!thread) throw new IntertieError('no-thread');
  const cursor = before === undefined ? after !== undefined && { after } : { before };
  const page = { ...defined({ limit, leafId: leaf }), ...(cursor && { cursor }) };
  const stored = await store.listMessages({ threadId, ...page });
  const messages = stored.map((message) => toPublicMessage(message, { errorText }));
  // Clients get a message that is being written from its stream. Returning half of it here would show it twice.
  const complete = messages.filter(({ status }) => status !== 'streaming');
  const target = protocols.find((protocol) => protocol.messages?.format === format)?.messages;
  return {
    messages: target ? target.encode(complete.map(withBlobUrls)) : messages.map(encodeMessage),
    branches: await findBranches(trees, store, thread, messages),
    // Read before the messages, so that the events after this version contain every later change.
    version: thread.version,
    ...(live && { live: toLiveInfo(live)! }),
  };
}

async function findBranches(
  trees: Host['trees'],
  store: Store,
  thread: Thread,
  messages: readonly CanonicalMessage[],
): Promise<Branches> {
  const children = new Map<string | undefined, number>();
  for (const { parentId } of (await trees.read(store, thread)).values()) {
    children.set(parentId, (children.get(parentId) ?? 0) + 1);
  }
  const branched = messages.filter(({ parentId }) => (children.get(parentId) ?? 0) > 1);
  const entries = await Promise.all(
    branched.map(async ({ id }) => {
      const siblings = (await store.listSiblings({ threadId: thread.id, messageId: id })).map((sibling) => sibling.id);
      return [id, { siblings, index: siblings.indexOf(id) }] as const;
    }),
  );
  return Object.fromEntries(entries);
}
