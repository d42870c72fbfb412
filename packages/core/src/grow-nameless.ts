import { equalJson } from './json-patch.ts';
import type { Json, JsonObject } from './json.ts';
import type { MessagePart } from './message.ts';

/** How many parts are tried for one that equals none: all of them would make hostile messages quadratic. */
const maxTries = 100;

/**
 * Which stored part each incoming part is, by their indexes, where neither has an id: the first that is left and equals
 * it, or else the first of which one is the beginning of the other. Never by its position alone, since a part may be
 * missing. What finds none is new.
 */
export function matchNameless(stored: readonly MessagePart[], incoming: readonly MessagePart[]): Map<number, number> {
  const places = new Map<number, number>();
  const left = new Map<string, number[]>();
  for (let index = stored.length - 1; index >= 0; index -= 1) {
    if (!isNameless(stored[index]!)) continue;
    const key = keyOf(stored[index]!);
    // Backwards, so that the first is the last of its list.
    const equal = left.get(key);
    if (equal) equal.push(index);
    else left.set(key, [index]);
  }
  const unmatched: number[] = [];
  for (const [index, part] of incoming.entries()) {
    if (!isNameless(part)) continue;
    const place = left.get(keyOf(part))?.pop();
    if (place === undefined) unmatched.push(index);
    else places.set(index, place);
  }
  if (unmatched.length === 0) return places;

  const rest = [...left.values()].flat().toSorted((a, b) => b - a);
  const tried: number[] = [];
  for (const index of unmatched) {
    while (tried.length < maxTries && rest.length > 0) tried.push(rest.pop()!);
    const found = tried.findIndex((place) => isSame(stored[place]!, incoming[index]!));
    if (found >= 0) places.set(index, tried.splice(found, 1)[0]!);
  }
  return places;
}

/** The id of a part, whatever it is called. */
export function idOf(part: MessagePart): string | undefined {
  if (part.type === 'tool-invocation') return part.toolCallId;
  return part.type === 'question' ? part.questionId : part.id;
}

function isNameless(part: MessagePart): boolean {
  return idOf(part) === undefined;
}

/** Equal for equal parts. A text is known by its words; without any it is nothing but what it carries. */
function keyOf(part: MessagePart): string {
  const text = textOf(part);
  if (text) return JSON.stringify([part.type, part.agentId, part.stepId, text]);
  return JSON.stringify(text === undefined ? bodyOf(part) : part);
}

function isSame(stored: MessagePart, incoming: MessagePart): boolean {
  if (stored.type !== incoming.type) return false;
  const [before, after] = [textOf(stored), textOf(incoming)];
  if (before === undefined || after === undefined) return equalJson(bodyOf(stored), bodyOf(incoming));
  if (stored.agentId !== incoming.agentId || stored.stepId !== incoming.stepId) return false;
  if (before.length < after.length) return after.startsWith(before) && (before !== '' || isBare(stored));
  return before.startsWith(after) && (after !== '' || isBare(incoming));
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
