import type { ToolSet } from 'ai';
import { isFields, toKey } from '../shared/read-fields.ts';

type Execute = (input: unknown, options: { toolCallId: string }) => unknown;
type Execution = { input: object; output: Promise<unknown> };

export interface GuardedTools {
  tools: ToolSet;
  /** Whether a part only announces the result of a plain tool: the result itself follows. */
  isEcho: (part: unknown) => boolean;
  /** A step begins: executions of the last one are not repeated any more. */
  startStep: () => void;
}

/**
 * Tools that wait for `ready` before they run. `streamText` decides by what `execute` returns whether a tool streams its results.
 * A tool that has to wait cannot return that yet, so every guarded tool streams, and the one preliminary result of a plain tool is
 * an echo.
 *
 * `streamText` of 7 executes a call again for every further response in the same stream. A call runs once: a repeated execution,
 * known by its id and its input object, gets the output of the first.
 */
export function guardTools(tools: ToolSet, ready: (toolCallId: string) => Promise<void>): GuardedTools {
  const echoes = new Set<string>();
  const executions = new Map<string, Execution>();
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
      if (earlier?.input === input) return repeat(earlier, () => echoes.add(toolCallId));
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

/** Passes the outputs on and keeps the last one. */
async function* record(outputs: AsyncGenerator, keep: (last: Promise<unknown>) => void): AsyncGenerator {
  let resolve: (output: unknown) => void;
  let reject: (error: unknown) => void;
  const promise = new Promise((...settle) => ([resolve, reject] = settle));
  // Without a repeated execution nothing awaits it.
  promise.catch(() => undefined);
  keep(promise);
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

async function* repeat({ output }: Execution, echo: () => void): AsyncGenerator {
  const result = await output;
  echo();
  yield result;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
