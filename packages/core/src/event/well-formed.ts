import { capJson } from '../json/cap-json.ts';
import type { AgentEvent, EventOf } from './event.ts';
import type { OnLoss } from '../json/loss.ts';
import { toJson } from '../json/to-json.ts';
import { isEventType, validateEvent } from './validate-event.ts';

/** Whether an event has its shape. Deltas are most of a stream, and simple: they are passed at a glance. */
export function isWellFormed(input: AgentEvent): boolean {
  return getPlainDeltaId(input) !== undefined || validateEvent(input) === undefined;
}

/**
 * What a decoder emitted in a wrong shape, as events that have theirs. A value that JSON cannot say (a BigInt, a class, a circle) is
 * made JSON and reported; a type that this version does not know, or a known one in a wrong shape, is carried as `raw`.
 */
export function repairEvent(input: AgentEvent, onLoss: OnLoss): readonly AgentEvent[] {
  const value = toJson(input, onLoss);
  const problem = validateEvent(value);
  if (problem === undefined) return [value as AgentEvent];
  const raw: AgentEvent = {
    type: 'raw',
    dialect: 'canonical',
    value: capJson(value, undefined, onLoss),
    ...getTime(value),
  };
  if (isNewer(value)) return [raw];
  const message = `An event was malformed, and is kept as raw: ${problem.message}`;
  return [raw, { type: 'notice', level: 'warning', code: 'malformed', message }];
}

/** Of a delta that says its words and no more: what they are of. */
export function getPlainDeltaId(event: AgentEvent): string | undefined {
  if (typeof event !== 'object' || event === null) return undefined;
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return typeof event.id === 'string' && isPlainText(event) ? event.id : undefined;
    case 'tool-input-delta':
      return typeof event.toolCallId === 'string' && isPlainText(event) ? event.toolCallId : undefined;
    default:
      return undefined;
  }
}

function isPlainText(event: EventOf<'text-delta' | 'reasoning-delta' | 'tool-input-delta'>): boolean {
  return typeof event.delta === 'string' && event.providerMetadata === undefined && event.at === undefined;
}

function isNewer(value: unknown): boolean {
  const type = (value as { type?: unknown } | null)?.type;
  return typeof type === 'string' && !isEventType(type);
}

function getTime(value: unknown): { at?: number } {
  const at = (value as { at?: unknown } | null)?.at;
  return typeof at === 'number' ? { at } : {};
}
