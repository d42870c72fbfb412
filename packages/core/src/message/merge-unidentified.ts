import { equalJson } from '../json/json-patch.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { MessagePart } from '../event/message.ts';

/** Stored parts compared with one incoming part that equals none. Comparing all would be quadratic for hostile messages. */
const maxTries = 100;

/**
 * Maps the index of each incoming part to that of the stored part it is a version of. Parts with ids match by id. Where one
 * of the two has no id, the first unmatched equal part matches, or else the first text of which one is a prefix of the other;
 * never the position alone, since a part may be missing. An unmatched part is new.
 */
export function matchParts(stored: readonly MessagePart[], incoming: readonly MessagePart[]): Map<number, number> {
  const { places, rest } = matchNamed(stored, incoming);
  if (rest.length === 0) return places;

  const taken = new Set(places.values());
  const left = new Map<string, number[]>();
  for (let index = stored.length - 1; index >= 0; index -= 1) {
    if (taken.has(index) || !isMatchable(stored[index]!)) continue;
    const key = keyOf(stored[index]!);
    // Backwards, so that the first is the last of its list.
    const equal = left.get(key);
    if (equal) equal.push(index);
    else left.set(key, [index]);
  }
  const unmatched: number[] = [];
  for (const index of rest) {
    const part = incoming[index]!;
    const equal = left.get(keyOf(part));
    const last = equal?.at(-1);
    if (last === undefined || areNamed(stored[last]!, part)) unmatched.push(index);
    else places.set(index, equal!.pop()!);
  }
  if (unmatched.length === 0) return places;

  const others = [...left.values()].flat().toSorted((a, b) => b - a);
  const tried: number[] = [];
  for (const index of unmatched) {
    while (tried.length < maxTries && others.length > 0) tried.push(others.pop()!);
    const found = tried.findIndex((place) => isSame(stored[place]!, incoming[index]!));
    if (found >= 0) places.set(index, tried.splice(found, 1)[0]!);
  }
  return places;
}

/** The places of parts whose id is stored, and the indexes of other incoming parts that may match. */
function matchNamed(
  stored: readonly MessagePart[],
  incoming: readonly MessagePart[],
): { places: Map<number, number>; rest: number[] } {
  const named = new Map<string, number>();
  for (const [index, part] of stored.entries()) {
    const name = nameOf(part);
    if (name !== undefined && !named.has(name)) named.set(name, index);
  }
  const places = new Map<number, number>();
  const rest: number[] = [];
  for (const [index, part] of incoming.entries()) {
    const name = nameOf(part);
    const place = name === undefined ? undefined : named.get(name);
    if (place !== undefined) places.set(index, place);
    else if (isMatchable(part)) rest.push(index);
  }
  return { places, rest };
}

/**
 * The index of the first incoming text that rewrites a stored one: it differs from the stored part that it matches, or it
 * matches none while the stored message has a text that the incoming one lacks. Two texts whose ids differ are two texts.
 */
export function findRewrite(
  stored: readonly MessagePart[],
  incoming: readonly MessagePart[],
  places: ReadonlyMap<number, number>,
): number | undefined {
  const taken = new Set(places.values());
  const missing = new Map<string, { isNamed: boolean }>();
  for (const [index, part] of stored.entries()) {
    if (taken.has(index) || !textOf(part)) continue;
    const author = authorOf(part);
    const isNamed = idOf(part) !== undefined && (missing.get(author)?.isNamed ?? true);
    missing.set(author, { isNamed });
  }
  const found = incoming.findIndex((part, index) => {
    const text = textOf(part);
    if (!text) return false;
    const place = places.get(index);
    if (place !== undefined) return !isPrefixOfOther(textOf(stored[place]!) ?? '', text);
    const lost = missing.get(authorOf(part));
    return lost !== undefined && !(lost.isNamed && idOf(part) !== undefined);
  });
  return found === -1 ? undefined : found;
}

/** The id of a part, whatever it is called. */
function idOf(part: MessagePart): string | undefined {
  if (part.type === 'tool-invocation') return part.toolCallId;
  return part.type === 'question' ? part.questionId : part.id;
}

/** Identifies a part that has an id. With the length in it, no type and id look like another type and id. */
function nameOf(part: MessagePart): string | undefined {
  const id = idOf(part);
  return id === undefined ? undefined : `${part.type.length} ${part.type} ${id}`;
}

function areNamed(a: MessagePart, b: MessagePart): boolean {
  return idOf(a) !== undefined && idOf(b) !== undefined;
}

/** A text that has an id may match one without: clients drop the ids of parts. */
function isMatchable(part: MessagePart): boolean {
  return idOf(part) === undefined || !!textOf(part);
}

/** Equal for equal parts. A text is identified by its text and author; an empty one by all of it. */
function keyOf(part: MessagePart): string {
  const text = textOf(part);
  if (text) return `${authorOf(part)}${text}`;
  return JSON.stringify(text === undefined ? bodyOf(part) : part);
}

function authorOf({ type, agentId, stepId }: MessagePart): string {
  return JSON.stringify([type, agentId, stepId]);
}

function isSame(stored: MessagePart, incoming: MessagePart): boolean {
  if (stored.type !== incoming.type || areNamed(stored, incoming)) return false;
  const [before, after] = [textOf(stored), textOf(incoming)];
  if (before === undefined || after === undefined) return equalJson(bodyOf(stored), bodyOf(incoming));
  if (stored.agentId !== incoming.agentId || stored.stepId !== incoming.stepId) return false;
  if (before.length < after.length) return after.startsWith(before) && (before !== '' || isBare(stored));
  return before.startsWith(after) && (after !== '' || isBare(incoming));
}

function isPrefixOfOther(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a);
}

function textOf(part: MessagePart): string | undefined {
  if (part.type === 'text') return part.text;
  return part.type === 'reasoning' ? part.reasoning : undefined;
}

/** Metadata is merged, and makes no other part of it. */
function bodyOf(part: MessagePart): Json {
  const { providerMetadata: _, ...body } = part;
  return body as JsonObject;
}

/** An empty text that carries something, such as the signature of a hidden thought, is the beginning of no other. */
function isBare(part: MessagePart): boolean {
  return !('citations' in part || 'details' in part || part.providerMetadata);
}
