import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { MockLanguageModelV3 } from 'ai/test';

type Parts = Iterable<LanguageModelV3StreamPart> | AsyncIterable<LanguageModelV3StreamPart>;

/** A model whose turns are programs: each may wait for what a test decides, and is cut off by the abort like a real one. */
export function steppedModel(...turns: Array<(options: LanguageModelV3CallOptions) => Parts>): MockLanguageModelV3 {
  let turn = 0;
  return new MockLanguageModelV3({
    provider: 'stepped.chat',
    modelId: 'stepped-1',
    doStream: async (options) => {
      const parts = turns[Math.min(turn++, turns.length - 1)]!(options);
      return { stream: streamOf(parts, options.abortSignal) };
    },
  });
}

function streamOf(parts: Parts, signal?: AbortSignal): ReadableStream<LanguageModelV3StreamPart> {
  return new ReadableStream({
    async start(controller) {
      signal?.addEventListener('abort', () => controller.error(signal.reason as Error));
      try {
        for await (const part of parts) {
          if (signal?.aborted) return;
          controller.enqueue(part);
        }
        if (!signal?.aborted) controller.close();
      } catch (error) {
        if (!signal?.aborted) controller.error(error);
      }
    },
  });
}
