import { toFault } from '@intertie/core';
import { pause } from '@intertie/core/internal';
import { streamText } from 'ai';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';
import type { FlowNode, NodeContext } from './flow.ts';

/** Thrown by a node that pauses the flow, and by one that is interrupted by `pause` or `stop`. */
export class Halt extends Error {
  readonly how: 'pause' | 'stop';

  constructor(how: 'pause' | 'stop') {
    super(`The flow received ${how}.`);
    this.how = how;
  }
}

export interface NodeRunOptions {
  node: FlowNode;
  runId: string;
  input: NodeContext['input'];
  outputs: NodeContext['outputs'];
  answer: string | undefined;
  signal: AbortSignal;
  /** Delay before each delta in milliseconds. */
  pace: number;
  emit: (event: RuntimeEvent) => void;
}

/** Runs one invocation of a node. Emits the events of the real runtimes: deltas first, then the complete text. */
export async function runNode(options: NodeRunOptions): Promise<unknown> {
  const { node, runId, emit, signal, pace } = options;
  const ids = { nodeId: node.id, runId };
  let isAgent = false;
  let lastText = '';

  const ensureStarted = (): void => {
    throwIfHalted(signal);
    if (!isAgent) emit({ type: 'agent:start', ...ids, sessionId: runId });
    isAgent = true;
  };

  const streamBlock = async (kind: 'text' | 'thinking', text: string): Promise<void> => {
    ensureStarted();
    for (const content of text.match(/\S+\s*|\s+/g) ?? []) {
      await pause(pace, signal);
      emit({ type: `agent:${kind}:delta`, ...ids, content });
    }
    emit({ type: `agent:${kind}`, ...ids, content: text });
    if (kind === 'text') lastText = text;
  };

  const context: NodeContext = {
    input: options.input,
    outputs: options.outputs,
    answer: options.answer,
    signal,
    say: (text) => streamBlock('text', text),
    think: (text) => streamBlock('thinking', text),
    async tool(toolName, toolInput, execute) {
      ensureStarted();
      emit({ type: 'agent:tool', ...ids, toolName, toolInput });
      try {
        await pause(pace * 10, signal);
        const output = await execute();
        emit({ type: 'agent:tool', ...ids, toolName, toolOutput: output ?? null });
        return output;
      } catch (error) {
        if (!(error instanceof Halt)) emit({ type: 'agent:tool', ...ids, toolName, error: toFault(error).message });
        throw error;
      }
    },
    set: (path, value) => emit({ type: 'state:patch', patch: { op: 'set', path, value } }),
    pause() {
      throw new Halt('pause');
    },
  };

  try {
    const output =
      'run' in node ? await node.run(context) : { text: await runModel(node, context, ensureStarted, options) };
    throwIfHalted(signal);
    if (isAgent) emit({ type: 'agent:complete', ...ids, result: lastText });
    return output;
  } catch (error) {
    const halt = findHalt(error, signal);
    if (halt === undefined) {
      if (isAgent) emit({ type: 'agent:error', ...ids, errorType: 'exception', message: toFault(error).message });
      throw error;
    }
    throw halt;
  }
}

/** Runs a node defined by a model and emits its stream. */
async function runModel(
  node: Extract<FlowNode, { model: unknown }>,
  context: NodeContext,
  ensureStarted: () => void,
  { runId, emit, signal }: NodeRunOptions,
): Promise<string> {
  const ids = { nodeId: node.id, runId };
  ensureStarted();
  let failure: { error: unknown } | undefined;
  const result = streamText({
    model: node.model,
    prompt: node.prompt(context),
    abortSignal: signal,
    onError: ({ error }) => void (failure ??= { error }),
  });
  let text = '';
  for await (const part of result.fullStream) {
    if (part.type === 'text-delta') {
      text += part.text;
      emit({ type: 'agent:text:delta', ...ids, content: part.text });
    } else if (part.type === 'reasoning-delta') {
      emit({ type: 'agent:thinking:delta', ...ids, content: part.text });
    }
  }
  if (failure !== undefined) throw failure.error;
  throwIfHalted(signal);
  emit({ type: 'agent:text', ...ids, content: text });
  return text;
}

function throwIfHalted(signal: AbortSignal): void {
  if (signal.aborted) throw findHalt(signal.reason, signal) ?? new Halt('stop');
}

/** Returns the halt that caused an error: after an abort, every error of a node is a consequence of it. */
function findHalt(error: unknown, signal: AbortSignal): Halt | undefined {
  if (error instanceof Halt) return error;
  return signal.aborted && signal.reason instanceof Halt ? signal.reason : undefined;
}
