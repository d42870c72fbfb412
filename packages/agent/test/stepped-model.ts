import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { MockLanguageModelV3 } from 'ai/test';

type Parts = Iterable<LanguageModelV3StreamPart> | AsyncIterable<LanguageModelV3StreamPart>;

/** Creates a model from one generator per call. A generator may wait for the test, and ends when the call is aborted. */
export function steppedModel(...calls: Array<(options: LanguageModelV3CallOptions) => Parts>): MockLanguageModelV3 {
  let call = 0;
  return new MockLanguageModelV3({
    provider: 'stepped.chat',
    modelId: 'stepped-1',
    doStream: async (options) => {
      const parts = calls[Math.min(call++, calls.length - 1)]!(options);
      return { stream: toStream(parts, options.abortSignal) };
    },
  });
}

function toStream(parts: Parts, signal?: AbortSignal): ReadableStream<LanguageModelV3StreamPart> {
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
