import { compose, seal, transcode, type AgentEvent, type End, type Loss, type RunInput } from '@intertie/core';
import { createOpenHarnessDecoder } from '../src/decode/decode-open-harness.ts';
import type { OpenHarnessDecoderOptions } from '../src/decode/decoder-options.ts';
import type { OpenHarnessInput } from '../src/runtime/runtime-event.ts';
import { runInput } from './run-input.ts';
import type { Trace } from './traces.ts';

export type Decoded = { events: AgentEvent[]; losses: Loss[] };

/** Decodes inputs to a sealed run. */
export function decode(
  inputs: Iterable<unknown>,
  { end, run = runInput(), ...options }: OpenHarnessDecoderOptions & { end?: End; run?: RunInput } = {},
): Decoded {
  const losses: Loss[] = [];
  const onLoss = (loss: Loss): void => void losses.push(loss);
  const codec = compose(createOpenHarnessDecoder(run, { ...options, onLoss }), seal(run, onLoss));
  return { events: transcode(codec, inputs as Iterable<OpenHarnessInput>, end), losses };
}

/** Decodes a trace with the result of its `run()`. */
export function decodeTrace({ events, thrown, snapshot }: Trace, options: OpenHarnessDecoderOptions = {}): Decoded {
  if (thrown !== undefined) return decode(events, { ...options, end: { reason: 'error', error: { message: thrown } } });
  return decode(snapshot ? [...events, { type: 'settled', snapshot }] : events, options);
}
