import type { AgentEvent, Codec, RunInput } from '@intertie/core';
import type { OpenHarnessDecoderOptions } from './decoder-options.ts';
import { FlowState } from './flow-state.ts';
import type { OpenHarnessInput } from '../runtime/runtime-event.ts';

/** Decodes the events of a graph runtime of either generation. Compose it with `seal`. */
export function createOpenHarnessDecoder(
  run: RunInput,
  options: OpenHarnessDecoderOptions = {},
): Codec<OpenHarnessInput, AgentEvent> {
  return new FlowState(run, options);
}

/** Creates the state of one run for `decodeEvent`. */
export function createFlowState(run: RunInput, options: OpenHarnessDecoderOptions = {}): FlowState {
  return new FlowState(run, options);
}

/** Decodes one event of a runtime into canonical events. `state` comes from `createFlowState`, one per run. */
export function decodeEvent(input: OpenHarnessInput, state: FlowState): AgentEvent[] {
  const events: AgentEvent[] = [];
  state.feed(input, (event) => void events.push(event));
  return events;
}
