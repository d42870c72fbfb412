import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { LLMock } from '@copilotkit/aimock';
import { modelMessages } from '@intertie/ai-sdk';
import { check } from '@intertie/conformance';
import { createInMemoryStore } from '@intertie/core';
import type { LanguageModel } from 'ai';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

import { Agent } from '../src/agent/agent.ts';

type Body = { messages: Array<{ role: string; content: unknown; tool_calls?: unknown[]; tool_call_id?: string }> };

it('sends valid requests when the provider changes within a thread, and back', async () => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1' });
  const thought = { reasoning: 'Look first.', reasoningSignature: 'signed-by-anthropic' };
  mock.on(
    { userMessage: 'Weather?', hasToolResult: false },
    { ...thought, toolCalls: [{ name: 'look', arguments: '{}' }] },
  );
  mock.on({ userMessage: 'Weather?', hasToolResult: true }, { content: 'Sunny.', ...thought });
  mock.onMessage('And tomorrow?', { content: 'Rain.' });
  mock.onMessage('Sure?', { content: 'No.' });
  await mock.start();
  onTestFinished(() => mock.stop());

  const bodies: Body[] = [];
  const recordingFetch: typeof fetch = (url, init) => {
    bodies.push(JSON.parse(init?.body as string) as Body);
    return fetch(url, init);
  };
  const anthropic = createAnthropic({ baseURL: `${mock.url}/v1`, apiKey: 'none', fetch: recordingFetch });
  const other = createOpenAICompatible({
    name: 'other',
    baseURL: `${mock.url}/v1`,
    apiKey: 'none',
    fetch: recordingFetch,
  });
  const store = createInMemoryStore();
  const look = { inputSchema: z.object({}), execute: async () => 'blue sky' };
  const send = async (model: LanguageModel, message: string): Promise<Body> => {
    const agent = new Agent({ name: 'helper', model, store, tools: { look } });
    const answer = await agent.generate({ threadId: 't', message });
    expect(answer.message).toMatchObject({ status: 'complete' });
    const { messages } = await agent.history({ threadId: 't', format: 'model', leafId: answer.message.parentId! });
    expect(check(modelMessages, messages).violations).toEqual([]);
    return bodies.at(-1)!;
  };

  const first = await send(anthropic('claude-sonnet-4-5'), 'Weather?');
  expect(JSON.stringify(first)).toContain('signed-by-anthropic');
  const second = await send(other('some-model'), 'And tomorrow?');
  // The other provider has no signatures, and pairs calls and results in its own format.
  expect(JSON.stringify(second)).not.toContain('signed-by-anthropic');
  expect(second.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  const call = second.messages[1]!.tool_calls![0] as { id: string };
  expect(second.messages[2]!.tool_call_id).toBe(call.id);
  const third = await send(anthropic('claude-sonnet-4-5'), 'Sure?');
  const sent = JSON.stringify(third);
  expect(sent).toContain('signed-by-anthropic');
  expect(sent).toContain('Rain.');
  expect(third.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
  ]);
  expect(mock.getRequests().every(({ response }) => response.status === 200)).toBe(true);
});
