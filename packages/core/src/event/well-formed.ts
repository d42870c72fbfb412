import { capJson } from '../json/cap-json.ts';
import type { AgentEvent, EventOf } from './event.ts';
import type { OnLoss } from '../json/loss.ts';
import { toJson } from '../json/to-json.ts';
import { isEventType, validateEvent } from './validate-event.ts';

/** Whether an event has a valid shape. Plain deltas, the most frequent events, skip the full check. */
export function isWellFormed(input: AgentEvent): boolean {
  return getPlainDeltaId(input) !== undefined || validateEvent(input) === undefined;
}

/**
 * Converts a malformed event of a decoder to valid events. Values that JSON cannot represent (a BigInt, a class, a circular
 * reference) are converted and reported. An unknown type, or a known type in an invalid shape, becomes `raw`.
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
  if (hasUnknownType(value)) return [raw];
  const message = `A malformed event was replaced by a raw one: ${problem.message}`;
  return [raw, { type: 'notice', level: 'warning', code: 'malformed', message }];
}

/** Returns the part id or call id of a delta that has no metadata and no time; undefined for other events. */
export function getPlainDeltaId(event: AgentEvent): string | undefined {
  if (typeof event !== 'object' || event === null) return undefined;
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return typeof event.id === 'string' && isPlainDelta(event) ? event.id : undefined;
    case 'tool-input-delta':
      return typeof event.toolCallId === 'string' && isPlainDelta(event) ? event.toolCallId : undefined;
    default:
      return undefined;
  }
}

function isPlainDelta(event: EventOf<'text-delta' | 'reasoning-delta' | 'tool-input-delta'>): boolean {
  return typeof event.delta === 'string' && event.providerMetadata === undefined && event.at === undefined;
}

function hasUnknownType(value: unknown): boolean {
  const type = (value as { type?: unknown } | null)?.type;
  return typeof type === 'string' && !isEventType(type);
}

function getTime(value: unknown): { at?: number } {
  const at = (value as { at?: unknown } | null)?.at;
  return typeof at === 'number' ? { at } : {};
}
