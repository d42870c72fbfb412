import type { AgentEvent, Codec, OnLoss } from '@intertie/core';

/** Encodes canonical events. Reports each event that the protocol cannot carry. */
export function createSampleNameEncoder(onLoss: OnLoss = () => undefined): Codec<AgentEvent, unknown> {
  return {
    feed(event, emit) {
      switch (event.type) {
        case 'run-start':
          return emit({ type: 'begin' });
        case 'text-delta':
          return emit({ type: 'text', text: event.delta });
        case 'run-end':
          return emit({ type: 'end', outcome: event.outcome });
        case 'text-start':
        case 'text-end':
          return undefined;
        default:
          return onLoss({ kind: 'unsupported', what: event.type, why: 'Sample Name has only text.' });
      }
    },
    end() {},
  };
}
