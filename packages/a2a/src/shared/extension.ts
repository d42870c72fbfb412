import type { AgentEvent, Json, JsonObject } from '@intertie/core';
import { asFields, type Fields } from '@intertie/core/internal';
import type { A2AStreamItem } from './a2a-types.ts';

/**
 * URI of the extension that carries canonical events which A2A has no place for: reasoning, tool calls, agents, state. Clients
 * activate it with the header `A2A-Extensions`. The data are in the metadata of updates, under the URI.
 */
export const eventsExtension = 'urn:intertie:a2a:events:1';

/** Data of the extension in the metadata of an update, an artifact or a message. */
export type ExtensionData = {
  /** Event that A2A cannot carry. */
  event?: AgentEvent;
  /** Number of the event in its run: a subscription repeats earlier events, and the client skips those it has. */
  position?: { run: string; n: number };
  /** Updates of a task that is not streamed, because a task itself has no place for most events. */
  items?: A2AStreamItem[];
  /** Fields of `text-start`, `text-delta` and `text-end` next to the text. */
  start?: JsonObject;
  delta?: JsonObject;
  end?: JsonObject;
  /** Fields of a run request that A2A has no place for. */
  request?: JsonObject;
};

export function toExtensionMetadata(data: ExtensionData): { metadata: JsonObject } {
  return { metadata: { [eventsExtension]: data as unknown as Json } };
}

export function readExtension(owner: unknown): Fields {
  return asFields(asFields(asFields(owner).metadata)[eventsExtension]);
}
