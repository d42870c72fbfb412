import { compose, seal, sourceStream, type AgentEvent, type RunInput } from '@intertie/core';
import { pause } from '@intertie/core/internal';
import { createOpenHarnessDecoder } from '../decode/decode-open-harness.ts';
import { createFlowFilter, type FlowDataOptions } from '../decode/flow-filter.ts';
import type { OpenHarnessDecoderOptions } from '../decode/decoder-options.ts';
import { isTerminalEvent, type OpenHarnessInput } from '../runtime/runtime-event.ts';
import type { RunStoreLike } from '../runtime/runtime.ts';

export interface StoredFlowOptions extends OpenHarnessDecoderOptions, FlowDataOptions {
  /** Polling interval of the store while the flow runs, in milliseconds. Default: 250. */
  pollMs?: number;
}

const defaultPollMs = 250;

/** Streams a run from the events in the runtime's own store, and follows it until it ends. */
export function storedFlow(
  store: RunStoreLike,
  flowRunId: string,
  run: RunInput,
  options: StoredFlowOptions = {},
): ReadableStream<AgentEvent> {
  const { onLoss = () => undefined, pollMs = defaultPollMs } = options;
  const decoder = compose(createOpenHarnessDecoder(run, options), createFlowFilter(options));
  const codec = compose(decoder, seal(run, onLoss));
  return sourceStream((disconnected) => readStoredEvents(store, flowRunId, pollMs, disconnected), codec);
}

async function* readStoredEvents(
  store: RunStoreLike,
  flowRunId: string,
  pollMs: number,
  disconnected: AbortSignal,
): AsyncGenerator<OpenHarnessInput> {
  let count = 0;
  while (!disconnected.aborted) {
    const snapshot = await store.loadSnapshot?.(flowRunId);
    const events = await store.loadEvents(flowRunId, count);
    yield* events;
    count += events.length;
    // The snapshot was read before the events, so no event of the run is missing.
    if (snapshot && snapshot.status !== 'running' && snapshot.status !== 'idle') {
      yield { type: 'settled', snapshot };
      return;
    }
    if (events.some(isTerminalEvent)) return;
    // An abort ends the loop without an error.
    await pause(pollMs, disconnected).catch(() => undefined);
  }
}
