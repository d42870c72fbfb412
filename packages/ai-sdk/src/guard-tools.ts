import type { ToolSet } from 'ai';
import { isFields, keyOf } from './read-fields.ts';

type Execute = (input: unknown, options: { toolCallId: string }) => unknown;

export interface GuardedTools {
  tools: ToolSet;
  /** Whether a part only tells that a plain tool has its result: the result itself follows. */
  isEcho: (part: unknown) => boolean;
}

/**
 * Tools that wait before they run. `streamText` asks at once, by what `execute` returns, whether a tool streams its results;
 * a tool that has to wait cannot say that yet, so every guarded tool streams, and the one preliminary result of those that
 * do not is an echo.
 */
export function guardTools(tools: ToolSet, ready: (toolCallId: string) => Promise<void>): GuardedTools {
  const echoes = new Set<string>();
  const guarded = Object.entries(tools).map(([name, tool]) => {
    const execute = tool.execute as Execute | undefined;
    if (typeof execute !== 'function') return [name, tool] as const;
    const waiting = async function* (input: unknown, options: { toolCallId: string }): AsyncGenerator {
      await ready(options.toolCallId);
      const output = execute.call(tool, input, options);
      if (isAsyncIterable(output)) yield* output;
      else {
        const result = await output;
        echoes.add(options.toolCallId);
        yield result;
      }
    };
    return [name, { ...tool, execute: waiting }] as const;
  });
  return {
    tools: Object.fromEntries(guarded),
    isEcho: (part) =>
      isFields(part) &&
      part.type === 'tool-result' &&
      part.preliminary === true &&
      echoes.delete(keyOf(part.toolCallId)),
  };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
