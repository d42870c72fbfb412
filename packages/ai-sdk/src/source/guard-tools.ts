import type { ToolSet } from 'ai';
import { isFields, toKey } from '../shared/read-fields.ts';

type Execute = (input: unknown, options: { toolCallId: string }) => unknown;
type ToolExecution = { input: object; output: Promise<unknown> };

export interface GuardedTools {
  tools: ToolSet;
  /** Whether a part is the preliminary result of a plain tool, whose final result follows. */
  isEcho: (part: unknown) => boolean;
  /** Must be called at the start of a step: executions of the previous step are not repeated any more. */
  startStep: () => void;
}

/**
 * Wraps tools so that they wait for `ready` before they run. `streamText` decides by the value that `execute` returns whether
 * a tool streams its results. A waiting tool cannot return that value yet, so every wrapped tool streams, and the preliminary
 * result of a plain tool is an echo that the caller drops.
 *
 * `streamText` of `ai` 7 executes a call again for every further response in the same stream. A repeated execution, identified
 * by call id and input object, returns the output of the first.
 */
export function guardTools(tools: ToolSet, ready: (toolCallId: string) => Promise<void>): GuardedTools {
  const echoes = new Set<string>();
  const executions = new Map<string, ToolExecution>();
  const guarded = Object.entries(tools).map(([name, tool]) => {
    const execute = tool.execute as Execute | undefined;
    if (typeof execute !== 'function') return [name, tool] as const;
    const run = async function* (input: unknown, options: { toolCallId: string }): AsyncGenerator {
      await ready(options.toolCallId);
      const output = execute.call(tool, input, options);
      if (isAsyncIterable(output)) yield* output;
      else {
        const result = await output;
        echoes.add(options.toolCallId);
        yield result;
      }
    };
    const runOnce = (input: unknown, options: { toolCallId: string }): AsyncGenerator => {
      const { toolCallId } = options;
      if (!isFields(input)) return run(input, options);
      const earlier = executions.get(toolCallId);
      if (earlier?.input === input) return replay(earlier, () => echoes.add(toolCallId));
      return record(run(input, options), (output) => executions.set(toolCallId, { input, output }));
    };
    return [name, { ...tool, execute: runOnce }] as const;
  });
  return {
    tools: Object.fromEntries(guarded),
    isEcho: (part) =>
      isFields(part) &&
      part.type === 'tool-result' &&
      part.preliminary === true &&
      echoes.delete(toKey(part.toolCallId)),
    startStep: () => executions.clear(),
  };
}

/** Passes the outputs through and resolves a promise with the last one. */
async function* record(outputs: AsyncGenerator, onStart: (output: Promise<unknown>) => void): AsyncGenerator {
  let resolve: (output: unknown) => void;
  let reject: (error: unknown) => void;
  const promise = new Promise((...settle) => ([resolve, reject] = settle));
  // Without a repeated execution, nothing awaits the promise.
  promise.catch(() => undefined);
  onStart(promise);
  try {
    let last: unknown;
    for await (const output of outputs) {
      last = output;
      yield output;
    }
    resolve!(last);
  } catch (error) {
    reject!(error);
    throw error;
  }
}

async function* replay({ output }: ToolExecution, echo: () => void): AsyncGenerator {
  const result = await output;
  echo();
  yield result;
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
