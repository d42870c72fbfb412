import type { AgentEventType } from '@intertie/core/internal';

/**
 * What the UI message stream has no chunk for travels as data chunks of these names, and comes back:
 * - `data-agent`: who works, kept in the message from the agent's first words on, replaced in place;
 * - `data-state`, `data-notice`: the shared state and what went wrong, shown and not kept;
 * - `data-interjection`, `data-file`: parts that a version has no chunk for, kept;
 * - `data-event`: any other event, as it is, for readers that know the canonical stream; not kept.
 */
export type ExtensionName = 'agent' | 'state' | 'notice' | 'interjection' | 'file' | 'event';

/** Part ids are minted from run ids, so no data of anybody else's begins like this. */
const prefix = 'intertie:';

/** The id of a data chunk that is ours. */
export function toExtensionId(name: ExtensionName, id?: string): string {
  return id === undefined ? prefix + name : `${prefix}${name}:${id}`;
}

/** Which of ours a data chunk is, if it is one. */
export function parseExtension(chunk: { type: string; id?: string }): { name: ExtensionName; id: string } | undefined {
  const name = chunk.type.slice('data-'.length);
  if (chunk.id === undefined || !chunk.id.startsWith(prefix) || !isExtension(name)) return undefined;
  const rest = chunk.id.slice(prefix.length);
  return rest === name || rest.startsWith(`${name}:`) ? { name, id: rest.slice(name.length + 1) } : undefined;
}

const names: ReadonlySet<string> = new Set<ExtensionName>([
  'agent',
  'state',
  'notice',
  'interjection',
  'file',
  'event',
]);

function isExtension(name: string): name is ExtensionName {
  return names.has(name);
}

/** The events that a `data-event` may carry. What has a chunk of its own comes as that chunk. */
export const dataEventTypes: ReadonlySet<AgentEventType> = new Set<AgentEventType>([
  'step-start',
  'step-end',
  'metadata',
  'tool-result',
  'question',
  'answer',
  'run-end',
]);
