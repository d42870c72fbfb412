import { findRewrite, matchParts } from './match-parts.ts';
import { mergePart } from './merge-part.ts';
import { mergeMeta, mergeMetadata } from '../event/merge-meta.ts';
import type { CanonicalMessage, MessageContent, MessagePart } from '../event/message.ts';
import { setOwn } from '../json/set-own.ts';
import { StoreError } from '../store/store-error.ts';
import { isSettled } from '../codec/tool-part.ts';

/**
 * Merges a message that is saved again into the stored one, without removing content. Calls move one way, a text is extended and
 * never rewritten, parts that the incoming message lacks stay in place, and author, time and parent stay. Otherwise the
 * incoming value wins. Throws a `StoreError` (`content-conflict`) if a text of the incoming message neither extends the stored
 * one nor is a prefix of it. Changes neither argument; linear in their size.
 */
export function mergeMessage(stored: CanonicalMessage, incoming: CanonicalMessage): CanonicalMessage {
  return { ...mergeEnvelope(stored, incoming), content: mergeContent(stored, incoming) };
}

/**
 * Replaces the content of a stored message. Settled calls and the directories of agents, steps and runs stay: they record
 * what has happened. Author, time and parent stay too.
 */
export function replaceMessage(stored: CanonicalMessage, incoming: CanonicalMessage): CanonicalMessage {
  if (stored.status === 'paused') {
    const text = `Message "${stored.id}" waits for an answer. Answer or stop its run, then replace the content.`;
    throw new StoreError('busy', text);
  }
  const settled = stored.content.parts.filter((part) => part.type === 'tool-invocation' && isSettled(part.state));
  const content: MessageContent = {
    ...incoming.content,
    parts: mergeParts(stored, settled, incoming.content.parts),
    ...mergeDirectories(stored.content, incoming.content),
  };
  return { ...mergeEnvelope(stored, incoming), content };
}

function mergeEnvelope(stored: CanonicalMessage, incoming: CanonicalMessage): CanonicalMessage {
  const { id, threadId, role, type, createdAt, parentId } = stored;
  const { parentId: _, status, ...rest } = incoming;
  return {
    ...stored,
    ...rest,
    id,
    threadId,
    role,
    type,
    createdAt,
    ...(parentId !== undefined && { parentId }),
    // A late save of an unfinished message does not reopen a finished one.
    ...(status !== undefined && (status !== 'streaming' || !stored.status) && { status }),
  };
}

function mergeContent(message: CanonicalMessage, { content: incoming }: CanonicalMessage): MessageContent {
  const stored = message.content;
  const merged: MessageContent = {
    ...stored,
    ...incoming,
    parts: mergeParts(message, stored.parts, incoming.parts),
    ...mergeDirectories(stored, incoming),
  };
  if (stored.content !== undefined && !incoming.content?.startsWith(stored.content)) {
    if (!stored.content.startsWith(incoming.content ?? '')) throwRewriteError(message, 'content.content');
    merged.content = stored.content;
  }
  if (stored.metadata && incoming.metadata) merged.metadata = mergeMetadata(stored.metadata, incoming.metadata);
  if (stored.providerMetadata && incoming.providerMetadata) {
    merged.providerMetadata = mergeMeta(stored.providerMetadata, incoming.providerMetadata);
  }
  return merged;
}

function mergeDirectories(
  stored: MessageContent,
  incoming: MessageContent,
): Pick<MessageContent, 'agents' | 'steps' | 'runs'> {
  const agents = stored.agents && mergeDirectory(stored.agents, incoming.agents);
  const steps = stored.steps && mergeDirectory(stored.steps, incoming.steps);
  const runs = stored.runs && mergeRuns(stored.runs, incoming.runs);
  return { ...(agents && { agents }), ...(steps && { steps }), ...(runs && { runs }) };
}

/** A run entry is written once, when the run ends, so the stored one stays. */
function mergeRuns(
  stored: NonNullable<MessageContent['runs']>,
  incoming: MessageContent['runs'] = [],
): NonNullable<MessageContent['runs']> {
  const known = new Set(stored.map((run) => run.runId));
  return [...stored, ...incoming.filter((run) => !known.has(run.runId))];
}

function mergeDirectory<Entry extends { providerMetadata?: MessageContent['providerMetadata'] }>(
  stored: { [id: string]: Entry },
  incoming: { [id: string]: Entry } = {},
): { [id: string]: Entry } {
  const merged = { ...stored };
  for (const [id, entry] of Object.entries(incoming)) {
    // An agent may be named `constructor`.
    const before = Object.hasOwn(stored, id) ? stored[id] : undefined;
    const providerMetadata = mergeMeta(before?.providerMetadata, entry.providerMetadata);
    setOwn(merged, id, { ...before, ...entry, ...(providerMetadata && { providerMetadata }) });
  }
  return merged;
}

function mergeParts(
  message: CanonicalMessage,
  stored: readonly MessagePart[],
  incoming: readonly MessagePart[],
): MessagePart[] {
  const matches = matchParts(stored, incoming);
  const rewritten = findRewrite(stored, incoming, matches);
  if (rewritten !== undefined) throwRewriteError(message, `content.parts[${rewritten}]`);

  const merged = [...stored];
  /** New parts by the stored part that they precede in the incoming message. */
  const before = new Map<number, MessagePart[]>();
  let added: MessagePart[] = [];
  let lastIndex = -1;
  for (const [index, part] of incoming.entries()) {
    const storedIndex = matches.get(index);
    if (storedIndex === undefined) {
      added.push(part);
      continue;
    }
    merged[storedIndex] = mergePart(merged[storedIndex]!, part);
    if (storedIndex <= lastIndex) continue;
    lastIndex = storedIndex;
    before.set(storedIndex, added);
    added = [];
  }
  return merged.flatMap((part, index) => (before.get(index) ?? []).concat(part)).concat(added);
}

function throwRewriteError({ id, threadId }: CanonicalMessage, path: string): never {
  const text =
    `${path} of message "${id}" in thread "${threadId}" neither extends the stored text nor is a prefix of it. ` +
    `Save an edit under a new id, or replace the content with mode: 'replace' and expectedVersion.`;
  throw new StoreError('content-conflict', text, { messageId: id, path });
}
