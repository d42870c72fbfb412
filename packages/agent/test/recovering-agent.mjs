// @ts-check
import { Agent, createRunHost } from '@intertie/agent';
import { jsonSchema } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * @typedef {import('@ai-sdk/provider').LanguageModelV3StreamPart} Part
 * @typedef {import('@ai-sdk/provider').LanguageModelV3CallOptions} CallOptions
 */

/** Tools of each step but the last. `search` and `fetch` are idempotent. */
const toolsByStep = [
  ['search', 'pay'],
  ['fetch', 'send', 'book'],
];
const texts = ['Looking it up for you', 'Almost there, a few more things', 'Everything is done as you asked'];
export const idempotent = ['search', 'fetch'];

/**
 * @param {'stop' | 'tool-calls'} unified
 * @returns {Part}
 */
function finish(unified) {
  const inputTokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 };
  const outputTokens = { total: 1, text: 1, reasoning: 0 };
  return { type: 'finish', finishReason: { unified, raw: unified }, usage: { inputTokens, outputTokens } };
}

/**
 * Responds with the step that follows the prompt, so that every process gives the same response. The user's message is the prefix of
 * the call ids.
 * @param {CallOptions['prompt']} prompt
 * @param {number} delayMs
 * @returns {AsyncGenerator<Part>}
 */
async function* respond(prompt, delayMs) {
  const step = prompt.filter(({ role }) => role === 'tool').length;
  const user = prompt.findLast(({ role }) => role === 'user');
  const part = user?.role === 'user' ? user.content[0] : undefined;
  const prefix = part?.type === 'text' ? part.text : '';
  yield { type: 'text-start', id: '0' };
  for (const word of texts[step]?.split(' ') ?? []) {
    await sleep(Math.random() * 2 * delayMs);
    yield { type: 'text-delta', id: '0', delta: `${word} ` };
  }
  yield { type: 'text-end', id: '0' };
  const tools = toolsByStep[step] ?? [];
  for (const toolName of tools) {
    const id = `${prefix}-${toolName}`;
    yield { type: 'tool-input-start', id, toolName };
    yield { type: 'tool-input-delta', id, delta: '{"n":' };
    await sleep(Math.random() * 2 * delayMs);
    yield { type: 'tool-input-delta', id, delta: `${step}}` };
    yield { type: 'tool-input-end', id };
    yield { type: 'tool-call', toolCallId: id, toolName, input: `{"n":${step}}` };
  }
  yield finish(tools.length > 0 ? 'tool-calls' : 'stop');
}

/**
 * @param {AsyncGenerator<Part>} parts
 * @param {AbortSignal | undefined} signal
 * @returns {ReadableStream<Part>}
 */
function toStream(parts, signal) {
  return new ReadableStream({
    async pull(controller) {
      if (signal?.aborted) return controller.error(signal.reason);
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

/** @param {number} delayMs */
export function recoveringModel(delayMs) {
  return new MockLanguageModelV3({
    provider: 'recovering.chat',
    modelId: 'recovering-1',
    doStream: async ({ prompt, abortSignal }) => ({ stream: toStream(respond(prompt, delayMs), abortSignal) }),
  });
}

/**
 * @param {{ delayMs: number, onTool: (call: string) => void }} options
 * @returns {import('ai').ToolSet}
 */
export function recoveringTools({ delayMs, onTool }) {
  return Object.fromEntries(
    toolsByStep.flat().map((name) => [
      name,
      {
        inputSchema: jsonSchema({ type: 'object', properties: { n: { type: 'number' } } }),
        ...(idempotent.includes(name) && { metadata: { idempotent: true } }),
        execute: async (/** @type {{ n: number }} */ { n }, /** @type {{ toolCallId: string }} */ { toolCallId }) => {
          onTool(toolCallId);
          await sleep(Math.random() * 4 * delayMs);
          return { n, tool: name };
        },
      },
    ]),
  );
}

/**
 * Agent with three steps and five tools that continues its runs in another process.
 * @param {import('@intertie/core').Store} store
 * @param {{ process: string, delayMs?: number, onTool?: (call: string) => void, sweepMs?: number }} options
 */
export function createRecoveringAgent(store, { process, delayMs = 5, onTool = () => {}, sweepMs }) {
  // On a busy machine, processes that will be killed take runs over from each other, so a run can have many attempts.
  const host = createRunHost(store, { process, maxAttempts: 100, ...(sweepMs !== undefined && { sweepMs }) });
  const agent = new Agent({
    name: 'recovering',
    model: recoveringModel(delayMs),
    tools: recoveringTools({ delayMs, onTool }),
    recover: 'step',
    store,
    host,
  });
  return { agent, host };
}
