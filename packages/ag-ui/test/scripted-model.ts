import type { LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider';
import * as ai6 from 'ai';
import * as ai7 from 'ai-7';
import { MockLanguageModelV3 } from 'ai/test';

export type ModelPart = LanguageModelV3StreamPart;

/** Both major versions, with the types of 6. The parts that we use are the same. */
export const majors: ReadonlyArray<{ name: string; ai: typeof ai6 }> = [
  { name: 'ai 6', ai: ai6 },
  { name: 'ai 7', ai: ai7 as unknown as typeof ai6 },
];

const usage: LanguageModelV3Usage = {
  inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: undefined },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
};

export function finish(unified: 'stop' | 'tool-calls' | 'error' = 'stop'): ModelPart {
  return { type: 'finish', finishReason: { unified, raw: unified }, usage };
}

export function text(id: string, ...deltas: string[]): ModelPart[] {
  return [
    { type: 'text-start', id },
    ...deltas.map((delta) => ({ type: 'text-delta' as const, id, delta })),
    { type: 'text-end', id },
  ];
}

export function reasoning(id: string, ...deltas: string[]): ModelPart[] {
  return [
    { type: 'reasoning-start', id },
    ...deltas.map((delta) => ({ type: 'reasoning-delta' as const, id, delta })),
    { type: 'reasoning-end', id },
  ];
}

export function streamedCall(id: string, toolName: string, ...deltas: string[]): ModelPart[] {
  return [
    { type: 'tool-input-start', id, toolName },
    ...deltas.map((delta) => ({ type: 'tool-input-delta' as const, id, delta })),
    { type: 'tool-input-end', id },
    { type: 'tool-call', toolCallId: id, toolName, input: deltas.join('') },
  ];
}

/** Script of one model call: emits its parts, then ends, fails, or hangs until it is aborted. */
export type Turn = ModelPart[] | { parts: ModelPart[]; last: 'throw' | 'hang' } | { throws: Error };

export function scriptedModel(turns: readonly Turn[]): MockLanguageModelV3 {
  let count = 0;
  return new MockLanguageModelV3({
    provider: 'scripted.chat',
    modelId: 'scripted-1',
    doStream: async ({ abortSignal }) => {
      const turn = turns[Math.min(count, turns.length - 1)] ?? [];
      count += 1;
      if ('throws' in turn) throw turn.throws;
      return { stream: createStream(turn, abortSignal) };
    },
  });
}

function createStream(turn: Exclude<Turn, { throws: Error }>, signal?: AbortSignal): ReadableStream<ModelPart> {
  const { parts, last } = Array.isArray(turn) ? { parts: turn, last: undefined } : turn;
  const remaining = [...parts];
  return new ReadableStream(
    {
      start(controller) {
        signal?.addEventListener('abort', () => controller.error(signal.reason), { once: true });
      },
      pull(controller) {
        const next = remaining.shift();
        if (next) controller.enqueue(next);
        else if (last === 'throw') controller.error(new Error('The line went dead.'));
        else if (last === undefined) controller.close();
        return last === 'hang' && !next ? new Promise<void>(() => undefined) : undefined;
      },
    },
    { highWaterMark: 0 },
  );
}

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
