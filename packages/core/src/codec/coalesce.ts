import type { Codec, Emit } from './codec.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import { utf8Length } from '../json/utf8-length.ts';

export interface CoalesceOptions {
  /** No merged delta is larger than this many bytes of UTF-8; a single one that is passes as it came. */
  maxBytes?: number;
}

type PartDelta = EventOf<'text-delta' | 'reasoning-delta' | 'tool-input-delta'>;

/**
 * Merges adjacent deltas of one part, which changes neither the text nor the meaning: a delta of four bytes costs seventy
 * as an event. What is held is let go by any other event, by `flush` (the skin's timer) and by the end. A delta with
 * metadata stays alone. The first delta's time and origin hold for the merged one.
 */
export function coalesce({ maxBytes = 16 * 1024 }: CoalesceOptions = {}): Codec<AgentEvent, AgentEvent> {
  let held: PartDelta | undefined;
  // Joined once, when let go.
  let texts: string[] = [];
  let bytes = 0;

  const letGo = (emit: Emit<AgentEvent>): void => {
    if (held === undefined) return;
    const event = texts.length > 1 ? { ...held, delta: texts.join('') } : held;
    held = undefined;
    texts = [];
    bytes = 0;
    emit(event);
  };

  return {
    feed(event, emit) {
      if (!isPartDelta(event) || event.providerMetadata !== undefined) {
        letGo(emit);
        emit(event);
        return;
      }
      const size = utf8Length(event.delta);
      if (held !== undefined && (!isSamePart(held, event) || bytes + size > maxBytes)) letGo(emit);
      held ??= event;
      texts.push(event.delta);
      bytes += size;
    },
    flush: letGo,
    end: (_, emit) => letGo(emit),
  };
}

function isPartDelta(event: AgentEvent): event is PartDelta {
  return event.type === 'text-delta' || event.type === 'reasoning-delta' || event.type === 'tool-input-delta';
}

function isSamePart(a: PartDelta, b: PartDelta): boolean {
  return a.type === b.type && idOf(a) === idOf(b);
}

function idOf(event: PartDelta): string {
  return event.type === 'tool-input-delta' ? event.toolCallId : event.id;
}
