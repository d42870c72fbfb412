// @ts-check
import { simulateReadableStream } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';

/**
 * Creates a model that emits the given number of deltas, as fast as they are read.
 * @param {number} deltas
 */
export function createTextModel(deltas) {
  const total = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
  /** @type {import('@ai-sdk/provider').LanguageModelV3StreamPart[]} */
  const chunks = [{ type: 'text-start', id: '0' }];
  for (let index = 0; index < deltas; index++) chunks.push({ type: 'text-delta', id: '0', delta: `w${index % 10} ` });
  chunks.push({ type: 'text-end', id: '0' });
  const usage = { inputTokens: total, outputTokens: total };
  chunks.push({ type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage });
  return new MockLanguageModelV3({
    doStream: async () => ({
      stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }),
    }),
  });
}
