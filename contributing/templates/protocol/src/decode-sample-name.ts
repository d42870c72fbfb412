import { createPartIds, toJson, type AgentEvent, type Codec, type RunInput } from '@intertie/core';
import { asFields, asText } from '@intertie/core/internal';

/** Decodes the items of one run. Unknown items become `raw` events, so nothing is lost. */
export function createSampleNameDecoder(run: RunInput): Codec<unknown, AgentEvent> {
  const id = createPartIds(run).next();
  let isOpen = false;
  return {
    feed(item, emit) {
      const { type, text } = asFields(item);
      if (type === 'text') {
        if (!isOpen) emit({ type: 'text-start', id });
        isOpen = true;
        emit({ type: 'text-delta', id, delta: asText(text) ?? '' });
      } else if (type === 'end') emit({ type: 'run-end', outcome: 'complete' });
      else if (type !== 'begin') emit({ type: 'raw', dialect: 'sample-name', value: toJson(item) });
    },
    // The end of the input is not the end of the run: the seal decides what a missing `run-end` means.
    end() {},
  };
}
