import type { AgentEvent } from '../../event/event.ts';
import { MAX_OUTER_DEPTH } from '../../json/max-depth.ts';
import { toJson } from '../../json/to-json.ts';

/** Events as the JSON text of a log. Total: an event that is not JSON must not take those of other runs along. */
export function toLogText(events: readonly AgentEvent[]): string {
  return JSON.stringify(events.map((event) => toJson(event, undefined, MAX_OUTER_DEPTH)));
}
