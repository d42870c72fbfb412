import { defined, isFields, asNonEmptyText, type Fields } from '@intertie/core/internal';
import { isServerEvent, type ServerEvent } from './server-event.ts';

/*
 * Converts events of the two versions between the graph runtimes and the current server: signals (v0.3) and the event log of
 * core-v2. No recordings of them exist, so this follows their documentation.
 */

const renamedEvents: { readonly [earlier: string]: string } = {
  'workflow:start': 'workflow:started',
  'workflow:end': 'workflow:completed',
  'agent:activated': 'agent:started',
  'harness:end': 'agent:completed',
  'harness:error': 'error:occurred',
  'tool:call': 'tool:called',
};

/** Converts an event of any version to the current one. Returns undefined for other values. */
export function toServerEvent(value: unknown): ServerEvent | undefined {
  if (isServerEvent(value)) return toCurrentEvent(value, value);
  return isFields(value) ? fromEnvelope(value) : undefined;
}

/** Unwraps an envelope of core-v2, of which only one kind contains an event. */
function fromEnvelope({ type, data }: Fields): ServerEvent | undefined {
  if (type === 'event') return isServerEvent(data) ? toServerEvent(data) : undefined;
  if (type === 'state') return { name: 'state:checkpoint', payload: { state: data } };
  if (type === 'done') return { name: 'workflow:completed', payload: {} };
  if (type !== 'error') return undefined;
  const message = asNonEmptyText(data) ?? (isFields(data) ? asNonEmptyText(data.message) : undefined);
  return { name: 'error:occurred', payload: defined({ message }) };
}

function toCurrentEvent({ name: earlier, payload, timestamp, ...rest }: ServerEvent, { source }: Fields): ServerEvent {
  const name = renamedEvents[earlier] ?? earlier;
  const from = isFields(source) ? (asNonEmptyText(source.agent) ?? asNonEmptyText(source.harness)) : undefined;
  const at = toTime(timestamp);
  const agent = asNonEmptyText(payload.agent) ?? asNonEmptyText(payload.agentName) ?? from;
  return {
    ...rest,
    name,
    payload: { ...payload, ...defined({ agent }), ...renameFields(name, payload) },
    ...defined({ timestamp: at }),
  };
}

/** Returns the renamed fields of an event. */
function renameFields(name: string, payload: Fields): Fields {
  const { content, delta = content, fullText = content, id, result, output = result, error, runId, outcome } = payload;
  switch (name) {
    case 'text:delta':
    case 'thinking:delta':
      return { delta };
    case 'text:complete':
    case 'thinking:complete':
      return { content: fullText };
    case 'workflow:started':
      return { sessionId: payload.sessionId ?? runId };
    case 'workflow:completed':
      return { finalState: payload.finalState ?? output };
    case 'agent:completed':
      return { output: output ?? outcome };
    case 'tool:called':
      return { toolId: payload.toolId ?? id, toolName: payload.toolName ?? payload.name };
    case 'tool:result':
      return {
        toolId: payload.toolId ?? id,
        output: error ?? output,
        isError: payload.isError ?? error !== undefined,
      };
    default:
      return {};
  }
}

/** Converts a timestamp to milliseconds. Signals have a string, and an event log in the same process a date. */
function toTime(timestamp: unknown): number | undefined {
  const at = typeof timestamp === 'number' ? timestamp : new Date(timestamp as string | Date).getTime();
  return Number.isFinite(at) ? at : undefined;
}
