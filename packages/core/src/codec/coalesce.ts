import type { Codec, Emit } from './codec.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import { utf8Length } from '../json/utf8-length.ts';

export interface CoalesceOptions {
  /** Maximum size of a merged delta in bytes of UTF-8. A larger single delta passes unchanged. Default: 16 KiB. */
  maxBytes?: number;
}

type PartDelta = EventOf<'text-delta' | 'reasoning-delta' | 'tool-input-delta'>;

/**
 * Merges adjacent deltas of one part: a delta of 4 bytes takes about 70 bytes as an event. Any other event, `flush` and the end
 * release the merged delta. A delta with metadata is never merged. The merged delta has the time and the origin of the first.
 */
export function coalesce({ maxBytes = 16 * 1024 }: CoalesceOptions = {}): Codec<AgentEvent, AgentEvent> {
  let held: PartDelta | undefined;
  // Joined once, on release: repeated concatenation would be slower.
  let texts: string[] = [];
  let bytes = 0;

  const flush = (emit: Emit<AgentEvent>): void => {
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
        flush(emit);
        emit(event);
        return;
      }
      const size = utf8Length(event.delta);
      if (held !== undefined && (!isSamePart(held, event) || bytes + size > maxBytes)) flush(emit);
      held ??= event;
      texts.push(event.delta);
      bytes += size;
    },
    flush,
    end: (_, emit) => flush(emit),
  };
}

function isPartDelta(event: AgentEvent): event is PartDelta {
  return event.type === 'text-delta' || event.type === 'reasoning-delta' || event.type === 'tool-input-delta';
}

function isSamePart(a: PartDelta, b: PartDelta): boolean {
  return a.type === b.type && getPartId(a) === getPartId(b);
}

function getPartId(event: PartDelta): string {
  return event.type === 'tool-input-delta' ? event.toolCallId : event.id;
}
