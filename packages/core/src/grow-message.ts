import { idOf, matchNameless } from './grow-nameless.ts';
import { growPart } from './grow-part.ts';
import { mergeMeta, mergeMetadata } from './merge-meta.ts';
import type { CanonicalMessage, MessageContent, MessagePart } from './message.ts';
import { setOwn } from './set-own.ts';

/**
 * What is kept of a message that is saved again: it only ever grows. Calls move one way, a text stays unless the incoming
 * one goes on from it, parts that the incoming message does not have stay in their place, and who, when and where it was
 * said stays too. Otherwise the incoming one wins. A correction is the matter of the run that wrote the message, and of
 * its end. Changes neither argument; linear in their size.
 */
export function growMessage(stored: CanonicalMessage, incoming: CanonicalMessage): CanonicalMessage {
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
    content: growContent(stored.content, incoming.content),
  };
}

function growContent(stored: MessageContent, incoming: MessageContent): MessageContent {
  const grown: MessageContent = { ...stored, ...incoming, parts: growParts(stored.parts, incoming.parts) };
  if (stored.content !== undefined && !incoming.content?.startsWith(stored.content)) grown.content = stored.content;
  if (stored.metadata && incoming.metadata) grown.metadata = mergeMetadata(stored.metadata, incoming.metadata);
  if (stored.providerMetadata && incoming.providerMetadata) {
    grown.providerMetadata = mergeMeta(stored.providerMetadata, incoming.providerMetadata);
  }
  if (stored.agents && incoming.agents) grown.agents = growDirectory(stored.agents, incoming.agents);
  if (stored.steps && incoming.steps) grown.steps = growDirectory(stored.steps, incoming.steps);
  if (stored.runs && incoming.runs) {
    // A run ends once, and its entry is written when it has.
    const known = new Set(stored.runs.map((run) => run.runId));
    grown.runs = [...stored.runs, ...incoming.runs.filter((run) => !known.has(run.runId))];
  }
  return grown;
}

function growDirectory<Entry extends { providerMetadata?: MessageContent['providerMetadata'] }>(
  stored: { [id: string]: Entry },
  incoming: { [id: string]: Entry },
): { [id: string]: Entry } {
  const grown = { ...stored };
  for (const [id, entry] of Object.entries(incoming)) {
    // An agent may be called `constructor`.
    const before = Object.hasOwn(stored, id) ? stored[id] : undefined;
    const providerMetadata = mergeMeta(before?.providerMetadata, entry.providerMetadata);
    setOwn(grown, id, { ...before, ...entry, ...(providerMetadata && { providerMetadata }) });
  }
  return grown;
}

function growParts(stored: readonly MessagePart[], incoming: readonly MessagePart[]): MessagePart[] {
  const named = new Map<string, number>();
  for (const [index, part] of stored.entries()) {
    const key = nameOf(part);
    if (key !== undefined && !named.has(key)) named.set(key, index);
  }
  const nameless = matchNameless(stored, incoming);

  const grown = [...stored];
  /** What goes before a stored part: new parts stand where the incoming message has them. */
  const before = new Map<number, MessagePart[]>();
  let added: MessagePart[] = [];
  let furthest = -1;
  for (const [index, part] of incoming.entries()) {
    const key = nameOf(part);
    const place = key === undefined ? nameless.get(index) : named.get(key);
    if (place === undefined) {
      added.push(part);
      continue;
    }
    grown[place] = growPart(grown[place]!, part);
    if (place <= furthest) continue;
    furthest = place;
    before.set(place, added);
    added = [];
  }
  return grown.flatMap((part, index) => (before.get(index) ?? []).concat(part)).concat(added);
}

/** What says that two parts are the same. With the length in it, no type and id look like another type and id. */
function nameOf(part: MessagePart): string | undefined {
  const id = idOf(part);
  return id === undefined ? undefined : `${part.type.length} ${part.type} ${id}`;
}
