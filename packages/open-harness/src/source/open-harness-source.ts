import {
  compose,
  seal,
  sourceStream,
  type AgentSource,
  type Json,
  type RunControl,
  type RunInput,
  type SourceStreamOptions,
} from '@intertie/core';
import { createOpenHarnessDecoder } from '../decode/decode-open-harness.ts';
import type { OpenHarnessDecoderOptions } from '../decode/decoder-options.ts';
import { driveRuntime } from '../runtime/drive-runtime.ts';
import { createFlowFilter, type FlowDataOptions } from '../decode/flow-filter.ts';
import { isFields } from '@intertie/core/internal';
import { toTopology, toFlow } from '../decode/flow-topology.ts';
import type { OpenHarnessInput } from '../runtime/runtime-event.ts';
import type { FlowLike, RunSnapshot, RuntimeLike } from '../runtime/runtime.ts';
import { createFlowInput } from '../runtime/request-text.ts';

/** Token of a paused flow. The real runtimes accept it: `createRuntime({ flow, registry, resume })`. */
export type FlowResume = { runId?: string; snapshot: RunSnapshot };

/** Argument of a runtime factory: the run, and the paused flow that it continues. */
export type FlowRequest = { resume?: FlowResume; run: RunInput };

/** Runtime for one run including its pauses, or a factory that creates a runtime per run. */
export type RuntimeOrFactory = RuntimeLike | ((turn: FlowRequest) => RuntimeLike | Promise<RuntimeLike>);

export interface OpenHarnessSourceOptions extends OpenHarnessDecoderOptions, FlowDataOptions {
  /** Name of the source. Default: the name of the flow, if known. */
  name?: string;
  /** Definition of the flow, to draw it. */
  flow?: FlowLike;
  /** Creates the input of the flow. Default: `message` (the user's text), `files` and `history`. */
  input?: (run: RunInput) => Record<string, unknown>;
  /** Stops or pauses the runtime on abort. A paused one continues with the next message. Default: `stop`. */
  onAbort?: 'stop' | 'pause';
  /** Sends a message to the active node of a running flow, or rejects it. Default: `send`. */
  whenRunning?: 'send' | 'refuse';
  /** Maximum wait for final events after a pause or a stop, in milliseconds. Default: 500. */
  drainMs?: number;
  /** Maximum time without an event, in milliseconds. Default: unlimited. */
  idleMs?: number;
  onFrame?: SourceStreamOptions<OpenHarnessInput>['onFrame'];
}

const defaultDrainMs = 500;

/** Creates a source that runs a flow. Every node is an agent, and the edges are the topology. */
export function openHarnessSource(
  runtimeOrFactory: RuntimeOrFactory,
  options: OpenHarnessSourceOptions = {},
): AgentSource {
  const { pauses = 'token' } = options;
  const runtimeOnly = typeof runtimeOrFactory === 'function' ? undefined : runtimeOrFactory;
  const flow = options.flow ?? runtimeOnly?.flow;
  return {
    name: options.name ?? flow?.name ?? 'open-harness',
    pauses,
    run: (run, control) => runFlow(runtimeOrFactory, options, run, control),
    describe: async () => toTopology(flow ?? (runtimeOnly && toFlow(runtimeOnly.getSnapshot()))),
  };
}

function runFlow(
  runtimeOrFactory: RuntimeOrFactory,
  options: OpenHarnessSourceOptions,
  run: RunInput,
  control: RunControl,
): ReturnType<AgentSource['run']> {
  const { drainMs = defaultDrainMs, idleMs, onFrame, onLoss = () => undefined, pauses = 'token' } = options;
  const { onAbort = 'stop', whenRunning = 'send', input = createFlowInput } = options;
  const { signal } = control;

  const open = async (disconnected: AbortSignal): Promise<ReadableStream<OpenHarnessInput>> => {
    const resume = readResume(run.sourceState);
    const turn: FlowRequest = { run, ...(resume && { resume }) };
    const runtime = typeof runtimeOrFactory === 'function' ? await runtimeOrFactory(turn) : runtimeOrFactory;
    // The reader may have disconnected while the runtime was created.
    disconnected.throwIfAborted();
    signal.throwIfAborted();
    return driveRuntime(runtime, { run, control, input: input(run), pauses, onAbort, whenRunning, drainMs, onLoss });
  };

  const decoder = compose(createOpenHarnessDecoder(run, options), createFlowFilter(options));
  const codec = compose(decoder, seal(run, onLoss));
  return sourceStream(open, codec, {
    signal,
    drainMs,
    ...(idleMs !== undefined && { idleMs }),
    ...(onFrame && { onFrame }),
  });
}

function readResume(token: Json | undefined): FlowResume | undefined {
  return isFields(token) && isFields(token.snapshot) ? (token as unknown as FlowResume) : undefined;
}
