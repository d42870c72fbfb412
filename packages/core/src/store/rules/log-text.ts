import type { AgentEvent } from '../../event/event.ts';
import type { Json } from '../../json/json.ts';
import { MAX_OUTER_DEPTH } from '../../json/max-depth.ts';
import { toJson } from '../../json/to-json.ts';

/** Encodes events as the JSON text of a log. Never throws: an invalid event must not affect the events of other runs. */
export function toLogText(events: readonly AgentEvent[]): string {
  return JSON.stringify(events.map((event) => toJson(event, undefined, MAX_OUTER_DEPTH)));
}

/** Removes checkpoints, whose tokens belong to the runtime, from the events of an export. */
export function withoutCheckpoints(events: ReadonlyArray<AgentEvent & Json>): Json[] {
  return events.filter((event) => event.type !== 'checkpoint');
}
