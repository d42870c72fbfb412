import { toFault, type AgentEvent, type Codec, type OnLoss, type RunInput } from '@intertie/core';
import { CANONICAL, capJson, readEvent } from '@intertie/core/internal';

/** Passes canonical events through. Other values become `raw` events with a notice. */
export function createCanonicalDecoder(_run: RunInput, onLoss: OnLoss): Codec<unknown, AgentEvent> {
  return {
    feed(value, emit) {
      let event: AgentEvent;
      try {
        event = readEvent(value);
      } catch (error) {
        emit({ type: 'raw', dialect: CANONICAL, value: capJson(value, undefined, onLoss) });
        emit({ type: 'notice', level: 'warning', code: 'malformed-event', message: toFault(error).message });
        return;
      }
      emit(event);
    },
    end() {},
  };
}

export function createCanonicalEncoder(): Codec<AgentEvent, unknown> {
  return { feed: (event, emit) => emit(event), end() {} };
}
