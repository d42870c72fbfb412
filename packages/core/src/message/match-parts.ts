import { equalJson } from '../json/json-patch.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { MessagePart } from '../event/message.ts';

/** Stored parts to compare with an incoming part that has no equal. Comparing all would be quadratic for hostile messages. */
const maxComparisons = 100;

/**
 * Maps the index of each incoming part to that of the stored part it is a version of. Parts with ids match by id. Where one
 * of the two has no id, the first unmatched equal part matches, or else the first text that extends the other or is a prefix
 * of it; never the position alone, since a part may be missing. An unmatched part is new.
 */
export function matchParts(stored: readonly MessagePart[], incoming: readonly MessagePart[]): Map<number, number> {
  const { matches, rest } = matchById(stored, incoming);
  if (rest.length === 0) return matches;

  const matched = new Set(matches.values());
  const unmatchedByKey = new Map<string, number[]>();
  for (let index = stored.length - 1; index >= 0; index -= 1) {
    if (matched.has(index) || !isMatchable(stored[index]!)) continue;
    const key = toEqualityKey(stored[index]!);
    // Built backwards, so that `pop` returns the first index.
    const equal = unmatchedByKey.get(key);
    if (equal) equal.push(index);
    else unmatchedByKey.set(key, [index]);
  }
  const unmatched: number[] = [];
  for (const index of rest) {
    const part = incoming[index]!;
    const equal = unmatchedByKey.get(toEqualityKey(part));
    const last = equal?.at(-1);
    if (last === undefined || haveIds(stored[last]!, part)) unmatched.push(index);
    else matches.set(index, equal!.pop()!);
  }
  if (unmatched.length === 0) return matches;

  const candidates = [...unmatchedByKey.values()].flat().toSorted((a, b) => b - a);
  const window: number[] = [];
  for (const index of unmatched) {
    while (window.length < maxComparisons && candidates.length > 0) window.push(candidates.pop()!);
    const found = window.findIndex((storedIndex) => isVersionOf(stored[storedIndex]!, incoming[index]!));
    if (found >= 0) matches.set(index, window.splice(found, 1)[0]!);
  }
  return matches;
}

/** Matches parts by id. `rest` holds the indexes of other incoming parts that may still match. */
function matchById(
  stored: readonly MessagePart[],
  incoming: readonly MessagePart[],
): { matches: Map<number, number>; rest: number[] } {
  const byId = new Map<string, number>();
  for (const [index, part] of stored.entries()) {
    const typedId = getTypedId(part);
    if (typedId !== undefined && !byId.has(typedId)) byId.set(typedId, index);
  }
  const matches = new Map<number, number>();
  const rest: number[] = [];
  for (const [index, part] of incoming.entries()) {
    const typedId = getTypedId(part);
    const storedIndex = typedId === undefined ? undefined : byId.get(typedId);
    if (storedIndex !== undefined) matches.set(index, storedIndex);
    else if (isMatchable(part)) rest.push(index);
  }
  return { matches, rest };
}

/**
 * Finds the first incoming text that rewrites a stored one: it differs from the stored part that it matches, or it matches none
 * while the stored message has a text that the incoming one lacks. Texts with different ids are different texts.
 */
export function findRewrite(
  stored: readonly MessagePart[],
  incoming: readonly MessagePart[],
  matches: ReadonlyMap<number, number>,
): number | undefined {
  const matched = new Set(matches.values());
  const missing = new Map<string, { hasId: boolean }>();
  for (const [index, part] of stored.entries()) {
    if (matched.has(index) || !getText(part)) continue;
    const authorKey = getAuthorKey(part);
    const hasId = getId(part) !== undefined && (missing.get(authorKey)?.hasId ?? true);
    missing.set(authorKey, { hasId });
  }
  const found = incoming.findIndex((part, index) => {
    const text = getText(part);
    if (!text) return false;
    const storedIndex = matches.get(index);
    if (storedIndex !== undefined) return !isPrefixOfOther(getText(stored[storedIndex]!) ?? '', text);
    const missingText = missing.get(getAuthorKey(part));
    return missingText !== undefined && !(missingText.hasId && getId(part) !== undefined);
  });
  return found === -1 ? undefined : found;
}

/** Returns the id of a part, whichever field holds it. */
function getId(part: MessagePart): string | undefined {
  if (part.type === 'tool-invocation') return part.toolCallId;
  return part.type === 'question' ? part.questionId : part.id;
}

/** Key of a part that has an id. The length prefix keeps different types and ids from producing the same key. */
function getTypedId(part: MessagePart): string | undefined {
  const id = getId(part);
  return id === undefined ? undefined : `${part.type.length} ${part.type} ${id}`;
}

function haveIds(a: MessagePart, b: MessagePart): boolean {
  return getId(a) !== undefined && getId(b) !== undefined;
}

/** A text with an id may match one without, because clients drop the ids of parts. */
function isMatchable(part: MessagePart): boolean {
  return getId(part) === undefined || !!getText(part);
}

/** Key that equal parts share. A text is identified by its text and author, an empty one by all its fields. */
function toEqualityKey(part: MessagePart): string {
  const text = getText(part);
  if (text) return `${getAuthorKey(part)}${text}`;
  return JSON.stringify(text === undefined ? withoutMetadata(part) : part);
}

function getAuthorKey({ type, agentId, stepId }: MessagePart): string {
  return JSON.stringify([type, agentId, stepId]);
}

function isVersionOf(stored: MessagePart, incoming: MessagePart): boolean {
  if (stored.type !== incoming.type || haveIds(stored, incoming)) return false;
  const [before, after] = [getText(stored), getText(incoming)];
  if (before === undefined || after === undefined) return equalJson(withoutMetadata(stored), withoutMetadata(incoming));
  if (stored.agentId !== incoming.agentId || stored.stepId !== incoming.stepId) return false;
  if (before.length < after.length) return after.startsWith(before) && (before !== '' || isBareText(stored));
  return before.startsWith(after) && (after !== '' || isBareText(incoming));
}

function isPrefixOfOther(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a);
}

function getText(part: MessagePart): string | undefined {
  if (part.type === 'text') return part.text;
  return part.type === 'reasoning' ? part.reasoning : undefined;
}

/** Metadata is merged, so it does not distinguish parts. */
function withoutMetadata(part: MessagePart): Json {
  const { providerMetadata: _, ...body } = part;
  return body as JsonObject;
}

/** An empty text with other data, such as the signature of hidden reasoning, is not the beginning of another text. */
function isBareText(part: MessagePart): boolean {
  return !('citations' in part || 'details' in part || part.providerMetadata);
}
