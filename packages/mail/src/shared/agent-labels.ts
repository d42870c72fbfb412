import type { AgentEvent, Codec, EventOf } from '@intertie/core';
import { mergeMeta } from '@intertie/core/internal';

type PartStart = EventOf<'text-start' | 'reasoning-start' | 'tool-input-start' | 'tool-call'>;

/**
 * Adds `currentAgent` and `isAgentChatter` to the metadata of every part. If agent chatter is shown, prefixes its text with
 * the agent's name and appends a line break, so that joined text still shows which agent wrote each part. The answer gets
 * the prefix if chatter precedes it as text.
 */
export function createAgentLabels(includeAgentChatter: boolean | 'reasoning'): Codec<AgentEvent, AgentEvent> {
  const names = new Map<string, string>();
  /** Labels of open text parts. MAIL delivers each text whole, as one delta. */
  const labels = new Map<string, { before: string; after: string }>();
  let hasChatter = false;

  const label = ({ id, internal }: EventOf<'text-start'>, name: string): void => {
    if (internal && includeAgentChatter !== false) {
      hasChatter = true;
      labels.set(id, { before: `[${name}]: `, after: '\n' });
    } else if (!internal && hasChatter && includeAgentChatter === true) {
      labels.set(id, { before: `[${name}]: `, after: '' });
    }
  };

  const describe = <Event extends PartStart>(event: Event): Event => {
    const name = event.agentId === undefined ? undefined : names.get(event.agentId);
    if (name === undefined) return event;
    if (event.type === 'text-start') label(event, name);
    const mail = { currentAgent: name, isAgentChatter: event.internal === true };
    return { ...event, providerMetadata: mergeMeta(event.providerMetadata, { mail }) };
  };

  return {
    feed(event, emit) {
      switch (event.type) {
        case 'agent-start':
          names.set(event.agentId, event.name);
          return emit(event);
        case 'text-start':
        case 'reasoning-start':
        case 'tool-input-start':
        case 'tool-call':
          return emit(describe(event));
        case 'text-delta': {
          const found = labels.get(event.id);
          if (found === undefined) return emit(event);
          labels.delete(event.id);
          return emit({ ...event, delta: `${found.before}${event.delta}${found.after}` });
        }
        default:
          emit(event);
      }
    },
    end: () => undefined,
  };
}
