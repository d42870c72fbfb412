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
import { isFields } from '@intertie/core/fields';
import { toTopology, toFlow } from '../decode/flow-topology.ts';
import type { OpenHarnessInput } from '../runtime/runtime-event.ts';
import type { FlowLike, RunSnapshot, RuntimeLike } from '../runtime/runtime.ts';
import { createFlowInput } from '../runtime/request-text.ts';

/** Where a paused flow goes on; `createRuntime({ flow, registry, resume })` of the real runtimes takes it as it is. */
export type FlowResume = { runId?: string; snapshot: RunSnapshot };

/** What a factory is told of the turn that it makes a runtime for. */
export type FlowTurn = { resume?: FlowResume; run: RunInput };

/** A runtime per turn is the normal case. A bare one serves one run, with its pauses. */
export type RuntimeOrFactory = RuntimeLike | ((turn: FlowTurn) => RuntimeLike | Promise<RuntimeLike>);

export interface OpenHarnessSourceOptions extends OpenHarnessDecoderOptions, FlowDataOptions {
  /** The source's name. Default: the flow's, if it is known. */
  name?: string;
  /** The flow's definition, to draw it. */
  flow?: FlowLike;
  /** What the flow is run with. Default: `message` (the user's text), `files` and `history`. */
  input?: (run: RunInput) => Record<string, unknown>;
  /** What stopping the chat does to the runtime. A paused one goes on with the next message. Default: `stop`. */
  onAbort?: 'stop' | 'pause';
  /** A message while the runtime is at work is sent to the active node, or refused. Default: `send`. */
  whenRunning?: 'send' | 'refuse';
  /** How long last words are waited for after a pause or a stop, in milliseconds. Default: 500. */
  drainMs?: number;
  /** How long the flow may be silent, in milliseconds. Default: as long as it likes. */
  idleMs?: number;
  onFrame?: SourceStreamOptions<OpenHarnessInput>['onFrame'];
}

const defaultDrainMs = 500;

/** A flow as a source of canonical events: every node a voice of its own, its edges the topology. */
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
    const turn: FlowTurn = { run, ...(resume && { resume }) };
    const runtime = typeof runtimeOrFactory === 'function' ? await runtimeOrFactory(turn) : runtimeOrFactory;
    // While it was being made, the reader may have left.
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
