import type { LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider';
import type { RunInput } from '@intertie/core';
import * as ai6 from 'ai';
import * as ai7 from 'ai-7';
import { MockLanguageModelV3 } from 'ai/test';

/** Both majors of `ai`, typed as version 6: the used API is the same. */
export const majors: ReadonlyArray<{ name: string; major: 6 | 7; ai: typeof ai6 }> = [
  { name: 'ai 6', major: 6, ai: ai6 },
  { name: 'ai 7', major: 7, ai: ai7 as unknown as typeof ai6 },
];

const usage: LanguageModelV3Usage = {
  inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: undefined },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
};

export function finish(
  unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other' = 'stop',
): LanguageModelV3StreamPart {
  return { type: 'finish', finishReason: { unified, raw: unified }, usage };
}

export function text(id: string, ...deltas: string[]): LanguageModelV3StreamPart[] {
  return [
    { type: 'text-start', id },
    ...deltas.map((delta) => ({ type: 'text-delta' as const, id, delta })),
    { type: 'text-end', id },
  ];
}

export function call(toolCallId: string, toolName: string, input: unknown = {}): LanguageModelV3StreamPart {
  return { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) };
}

/** Model that streams one script per step and records its calls. */
export function scriptedModel(...steps: LanguageModelV3StreamPart[][]): MockLanguageModelV3 {
  let step = 0;
  return new MockLanguageModelV3({
    provider: 'scripted.chat',
    modelId: 'scripted-1',
    doStream: async () => {
      const parts = steps[Math.min(step, steps.length - 1)] ?? [];
      step += 1;
      return { stream: createStream(parts) };
    },
  });
}

export function createStream<T>(items: readonly T[]): ReadableStream<T> {
  return new ReadableStream({
    start(controller) {
      for (const item of items) controller.enqueue(item);
      controller.close();
    },
  });
}

export function runInput(more: Partial<RunInput> = {}): RunInput {
  return {
    runId: 'run-1',
    threadId: 'thread-1',
    messageId: 'message-1',
    startedAt: 1_700_000_000_000,
    history: [],
    answers: [],
    tools: [],
    context: [],
    ...more,
  };
}

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
