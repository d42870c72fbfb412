// @ts-check
import { Agent, createRunHost } from '@intertie/agent';
import { generateId, toReadableStream } from '@intertie/core';
import { jsonSchema } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * @typedef {import('@ai-sdk/provider').LanguageModelV3StreamPart} Part
 * @typedef {import('@ai-sdk/provider').LanguageModelV3CallOptions} CallOptions
 */

/** @type {Part} */
const stop = finish('stop');

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
 * Emits what the user asks for: `text 30`, `tool` or `approve`. Emits text after tool results.
 * @param {CallOptions['prompt']} prompt
 * @param {(n: number) => void} onDelta
 * @returns {AsyncGenerator<Part>}
 */
async function* respond(prompt, onDelta) {
  const last = prompt.at(-1);
  const request = last?.role === 'user' && last.content[0]?.type === 'text' ? last.content[0].text : 'text 3';
  const [what, count = '0'] = request.split(' ');
  if (what === 'text') {
    yield { type: 'text-start', id: '0' };
    for (let n = 0; n < Number(count); n++) {
      onDelta(n);
      yield { type: 'text-delta', id: '0', delta: `${n} ` };
      await sleep(Math.random() * 8);
    }
    yield { type: 'text-end', id: '0' };
    yield stop;
    return;
  }
  const toolName = what === 'tool' ? 'act' : 'pay';
  for (let n = 0; n < 2; n++) {
    const toolCallId = generateId();
    yield { type: 'tool-input-start', id: toolCallId, toolName };
    yield { type: 'tool-input-delta', id: toolCallId, delta: '{"n":' };
    await sleep(Math.random() * 4);
    yield { type: 'tool-input-delta', id: toolCallId, delta: `${n}}` };
    yield { type: 'tool-input-end', id: toolCallId };
    yield { type: 'tool-call', toolCallId, toolName, input: `{"n":${n}}` };
  }
  yield finish('tool-calls');
}

/**
 * Creates an agent with text, a tool, and a tool that needs approval. The kill tests run it in both processes.
 * @param {import('@intertie/core').Store} store
 * @param {{ process: string; onTool: (toolCallId: string) => void; onDelta?: (n: number) => void; sweepMs?: number }} options
 */
export function createWorker(store, { process, onTool, onDelta = () => {}, sweepMs = 5000 }) {
  const model = new MockLanguageModelV3({
    provider: 'worker.chat',
    modelId: 'worker-1',
    doStream: async ({ prompt }) => ({ stream: toReadableStream(respond(prompt, onDelta)) }),
  });
  /** @type {(input: unknown, options: { toolCallId: string }) => Promise<string>} */
  const execute = async (_, { toolCallId }) => {
    onTool(toolCallId);
    await sleep(Math.random() * 20);
    return 'done';
  };
  const inputSchema = jsonSchema({ type: 'object', properties: { n: { type: 'number' } } });
  const host = createRunHost(store, { process, sweepMs });
  const tools = { act: { inputSchema, execute }, pay: { inputSchema, execute, needsApproval: true } };
  return { host, model, agent: new Agent({ name: 'worker', model, store, host, tools }) };
}
