// @ts-check
import { setTimeout as sleep } from 'node:timers/promises';

/** @import { LanguageModelV3, LanguageModelV3Prompt, LanguageModelV3StreamPart } from '@ai-sdk/provider' */

/**
 * Request to the model, as JSON in the user's message: number of words, milliseconds before the first and between them, and whether
 * the second one waits for `resumeResponses`; optionally the expected number of earlier messages.
 * @typedef {{ words: number, firstMs?: number, everyMs?: number, waits?: boolean, after?: number }} ModelRequest
 */

/** @type {Set<() => void>} */
const waiting = new Set();

/** Releases all waiting responses. */
export function resumeResponses() {
  for (const resume of waiting) resume();
  waiting.clear();
}

/** Creates the nth word. All have the same length. @param {number} n */
export const createWord = (n) => `w${n % 10} `;

/**
 * Creates a model that does not record its calls, unlike the mock of the AI SDK: memory is measured here.
 * @type {LanguageModelV3}
 */
export const requestedModel = {
  specificationVersion: 'v3',
  provider: 'bench',
  modelId: 'requested',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('This model supports only streaming.')),
  doStream: async ({ prompt, abortSignal }) => ({
    stream: ReadableStream.from(generateParts(parseRequest(prompt), abortSignal)),
  }),
};

/** @param {LanguageModelV3Prompt} prompt @returns {ModelRequest} */
function parseRequest(prompt) {
  const last = prompt.findLast(({ role }) => role === 'user');
  const part = typeof last?.content === 'string' ? undefined : last?.content[0];
  /** @type {ModelRequest} */
  const request = JSON.parse(part?.type === 'text' ? part.text : '{"words":1}');
  if (request.after !== undefined && prompt.length < request.after + 1) {
    throw new Error(`The model received ${prompt.length} messages, not ${request.after + 1}.`);
  }
  return request;
}

/**
 * @param {ModelRequest} request
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<LanguageModelV3StreamPart>}
 */
async function* generateParts({ words, firstMs = 0, everyMs = 0, waits = false }, signal) {
  if (firstMs > 0) await sleep(firstMs);
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: '0' };
  for (let n = 0; n < words; n++) {
    if (signal?.aborted) return;
    if (n === 1 && waits) await /** @type {Promise<void>} */ (new Promise((resolve) => waiting.add(resolve)));
    if (n > 0 && everyMs > 0) await sleep(everyMs);
    yield { type: 'text-delta', id: '0', delta: createWord(n) };
  }
  yield { type: 'text-end', id: '0' };
  const total = { total: words, noCache: words, cacheRead: 0, cacheWrite: 0, text: words, reasoning: 0 };
  const usage = { inputTokens: total, outputTokens: total };
  yield { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage };
}
