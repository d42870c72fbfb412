import type { AgentEventType } from '@intertie/core/internal';

/**
 * Names of the data chunks for events that the UI message stream has no chunk for. Our decoder restores them:
 * - `data-agent`: an agent; part of the message once the agent has content, replaced in place;
 * - `data-state`, `data-notice`: shared state and notices; transient;
 * - `data-interjection`, `data-file`: parts that a version has no chunk for; part of the message;
 * - `data-event`: any other event, for readers that know the canonical stream; transient.
 */
export type ExtensionName = 'agent' | 'state' | 'notice' | 'interjection' | 'file' | 'event';

/** Id prefix of our data chunks. Part ids start with a run id, so other data does not have it. */
const prefix = 'intertie:';

const names: readonly ExtensionName[] = ['agent', 'state', 'notice', 'interjection', 'file', 'event'];

/** Returns the id of one of our data chunks. */
export function toExtensionId(name: ExtensionName, id?: string): string {
  return id === undefined ? prefix + name : `${prefix}${name}:${id}`;
}

/** Recognizes our data chunks. Undefined for all others. */
export function parseExtension(chunk: { type: string; id?: string }): { name: ExtensionName; id: string } | undefined {
  if (!chunk.id?.startsWith(prefix)) return undefined;
  const name = names.find((known) => chunk.type === `data-${known}`);
  if (name === undefined) return undefined;
  const rest = chunk.id.slice(prefix.length);
  return rest === name || rest.startsWith(`${name}:`) ? { name, id: rest.slice(name.length + 1) } : undefined;
}

/** Events that a `data-event` can contain. All others have chunks of their own. */
export const dataEventTypes: ReadonlySet<AgentEventType> = new Set<AgentEventType>([
  'step-start',
  'step-end',
  'metadata',
  'tool-result',
  'question',
  'answer',
  'run-end',
]);
