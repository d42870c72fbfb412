import { createAnthropic } from '@ai-sdk/anthropic';
import { createAnthropic as createAnthropic4 } from '@ai-sdk/anthropic-4';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createGoogle as createGoogle4 } from '@ai-sdk/google-4';
import { createMistral } from '@ai-sdk/mistral';
import { createMistral as createMistral4 } from '@ai-sdk/mistral-4';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAI as createOpenAI4 } from '@ai-sdk/openai-4';
import { check } from '@intertie/conformance';
import { foldEvents, type AgentEvent, type CanonicalMessage, type Loss } from '@intertie/core';
import type { LanguageModel, ModelMessage, ToolSet } from 'ai';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { runControl } from '../../core/test/run-control.ts';
import { modelMessages } from '../src/messages/model-messages.ts';
import { modelSource, type ModelSourceOptions } from '../src/source/model-source.ts';
import { toAiSdkMessages } from '../src/messages/to-ai-sdk-messages.ts';
import { refusals } from './request-rules.ts';
import { collect, majors, runInput } from './scripted-model.ts';

const providers = {
  6: { createAnthropic, createGoogle: createGoogleGenerativeAI, createMistral, createOpenAI },
  7: {
    createAnthropic: createAnthropic4 as unknown as typeof createAnthropic,
    createGoogle: createGoogle4 as unknown as typeof createGoogleGenerativeAI,
    createMistral: createMistral4 as unknown as typeof createMistral,
    createOpenAI: createOpenAI4 as unknown as typeof createOpenAI,
  },
};

type Fetch = typeof globalThis.fetch;
type Target = 'anthropic' | 'openai responses' | 'openai chat' | 'google' | 'mistral';
const targets: Target[] = ['anthropic', 'openai responses', 'openai chat', 'google', 'mistral'];

const user = (id: string, text: string): CanonicalMessage => ({
  id,
  threadId: 'thread-1',
  role: 'user',
  type: 'text',
  content: { format: 2, parts: [{ type: 'text', text }] },
  createdAt: new Date(0),
});

describe.each(majors)('$name', ({ ai, major }) => {
  const { createAnthropic: anthropic, createGoogle, createMistral: mistral, createOpenAI: openai } = providers[major];

  const createModel = (target: Target, fetch: Fetch): LanguageModel => {
    const settings = { apiKey: 'none', fetch };
    if (target === 'anthropic') return anthropic(settings)('claude-sonnet-4-5');
    if (target === 'openai responses') return openai(settings).responses('gpt-5-mini');
    if (target === 'openai chat') return openai(settings).chat('gpt-4.1');
    if (target === 'google') return createGoogle(settings)('gemini-2.5-flash');
    return mistral(settings)('mistral-medium-latest');
  };

  /** Model that replays a recording, and the requests that it received. */
  const replay = (target: Target, recording?: string): { model: LanguageModel; requests: unknown[] } => {
    const requests: unknown[] = [];
    const path = new URL(`recordings/${recording}.chunks.txt`, import.meta.url);
    const lines = recording === undefined ? [] : readFileSync(path, 'utf8').trim().split('\n');
    const body = lines.map((line) => `data: ${line}\n\n`).join('');
    const model = createModel(target, async (_url, init) => {
      requests.push(JSON.parse(init?.body as string));
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    return { model, requests };
  };

  const noStore = { openai: { store: false } };
  const settings = {
    maxRetries: 0,
    streamText: ai.streamText,
    version: major,
    stopWhen: () => true,
    providerOptions: noStore,
  };

  async function answer(target: Target, recording: string, tools: ToolSet): Promise<CanonicalMessage> {
    const source = modelSource(replay(target, recording).model, { ...settings, tools });
    const stream = source.run(runInput({ history: [user('user-1', 'Begin.')] }), runControl());
    return foldEvents(await collect(stream as unknown as AsyncIterable<AgentEvent>))!;
  }

  const buildHistory = (message: CanonicalMessage): CanonicalMessage[] => [
    user('user-1', 'Begin.'),
    message,
    user('user-2', 'Continue.'),
  ];

  /** Returns the next request body that our source sends. */
  async function nextRequest(
    target: Target,
    message: CanonicalMessage,
    tools: ToolSet,
    losses: Loss[] = [],
    options: ModelSourceOptions = {},
  ): Promise<unknown> {
    const { model, requests } = replay(target);
    const source = modelSource(model, { ...settings, ...options, tools, onLoss: (loss) => losses.push(loss) });
    const input = runInput({ runId: 'run-2', messageId: 'message-2', history: buildHistory(message) });
    const events = await collect(source.run(input, runControl()) as unknown as AsyncIterable<AgentEvent>);
    expect(requests, JSON.stringify(events.at(-1))).toHaveLength(1);
    return requests[0];
  }

  /** Returns the next request body that the AI SDK sends with its own messages. */
  async function sdkRequest(target: Target, recording: string, tools: ToolSet): Promise<unknown> {
    const options = { tools, maxRetries: 0, onError: () => undefined, providerOptions: noStore };
    const first = ai.streamText({ ...options, model: replay(target, recording).model, prompt: 'Begin.' });
    await first.consumeStream();
    const response = (await first.response).messages as ModelMessage[];
    const { model, requests } = replay(target);
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Begin.' },
      ...response,
      { role: 'user', content: 'Continue.' },
    ];
    await ai.streamText({ ...options, model, messages }).consumeStream();
    return requests[0];
  }

  const getDepth = ai.tool({ inputSchema: z.object({ river: z.string() }), execute: async () => 11 });
  const anthropicTools = (): ToolSet => {
    const { tools } = anthropic({ apiKey: 'none' });
    return {
      web_search: tools.webSearch_20250305(),
      web_fetch: tools.webFetch_20260209(),
      code_execution: tools.codeExecution_20260120(),
      get_depth: getDepth,
    } as ToolSet;
  };
  const openaiTools = (): ToolSet => {
    const { tools } = openai({ apiKey: 'none' });
    const sql = tools.customTool({ name: 'write_sql', description: 'Runs SQL.' });
    return {
      web_search: tools.webSearch({}),
      image_generation: tools.imageGeneration({ partialImages: 1 }),
      write_sql: { ...sql, execute: async () => 'ok' },
      get_depth: getDepth,
    };
  };

  const recordings: Array<{ target: Target; recording: string; tools: () => ToolSet }> = [
    { target: 'anthropic', recording: 'anthropic/web-search', tools: anthropicTools },
    { target: 'anthropic', recording: 'anthropic/nested-fetch', tools: anthropicTools },
    { target: 'anthropic', recording: 'anthropic/program-call', tools: anthropicTools },
    { target: 'openai responses', recording: 'openai/responses/custom-tool', tools: openaiTools },
    { target: 'openai responses', recording: 'openai/responses/program-call', tools: openaiTools },
    { target: 'openai responses', recording: 'openai/responses/web-search', tools: openaiTools },
  ];

  test.each(recordings)('sends $recording back as the AI SDK does', async ({ target, recording, tools }) => {
    const message = await answer(target, recording, tools());
    expect(await nextRequest(target, message, tools())).toEqual(await sdkRequest(target, recording, tools()));
  });

  const crossed = recordings.flatMap(({ target: from, recording, tools }) =>
    targets.filter((to) => to !== from).map((to) => ({ from, to, recording, tools })),
  );

  test.each(crossed)('sends $recording to $to in a form that it accepts', async ({ from, to, recording, tools }) => {
    const message = await answer(from, recording, tools());
    const losses: Loss[] = [];
    expect(refusals[to](await nextRequest(to, message, {}, losses))).toEqual([]);
    const { provider } = replay(to).model as { provider: string };
    const messages = toAiSdkMessages(buildHistory(message), { provider, version: major });
    expect(check(modelMessages, messages).violations).toEqual([]);
    const calls = message.content.parts.filter(
      (part) => part.type === 'tool-invocation' && part.executor === 'provider',
    );
    expect(losses.filter(({ what }) => what === 'provider call')).toHaveLength(calls.length);
  });

  test('keeps the text of a custom tool’s input', async () => {
    const message = await answer('openai responses', 'openai/responses/custom-tool', openaiTools());
    const { input } = (await nextRequest('openai responses', message, openaiTools())) as { input: unknown[] };
    expect(input).toContainEqual(
      expect.objectContaining({ type: 'custom_tool_call', input: 'SELECT name FROM rivers' }),
    );
  });

  test('keeps the paused program of a provider whose calls have results', async () => {
    const message = await answer('anthropic', 'anthropic/program-call', anthropicTools());
    const { messages } = (await nextRequest('anthropic', message, anthropicTools())) as { messages: unknown[] };
    expect(messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: 'srvtoolu_code1' },
          { type: 'tool_use', id: 'toolu_depth1', caller: { tool_id: 'srvtoolu_code1' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_depth1' }, { type: 'text' }] },
    ]);
  });

  test('sends a generated image back once, in its final form', async () => {
    const message = await answer('openai responses', 'openai/responses/image-generation', openaiTools());
    expect(message.content.parts[0]).toMatchObject({ state: 'result', result: { result: 'd2hvbGU=' } });
    const stored = { providerOptions: { openai: { store: true } } };
    const { input } = (await nextRequest('openai responses', message, openaiTools(), [], stored)) as {
      input: unknown[];
    };
    expect(input).toMatchObject([
      { role: 'user' },
      { type: 'item_reference', id: 'ig_1' },
      { role: 'assistant' },
      { role: 'user' },
    ]);
    const body = JSON.stringify(await nextRequest('google', message, {}));
    expect(body).not.toContain('cGFydA==');
  });

  test('sends an empty text with an item id back to its provider only', async () => {
    const message = await answer('openai responses', 'openai/responses/empty-text', openaiTools());
    const { input } = (await nextRequest('openai responses', message, openaiTools())) as { input: unknown[] };
    const content = major === 6 ? [{ type: 'output_text', text: '' }] : '';
    expect(input).toContainEqual(expect.objectContaining({ role: 'assistant', content }));
    expect(refusals.anthropic(await nextRequest('anthropic', message, {}))).toEqual([]);
  });

  test('leaves out encrypted content of another provider’s search', async () => {
    const message = await answer('anthropic', 'anthropic/web-search', anthropicTools());
    const losses: Loss[] = [];
    const body = JSON.stringify(await nextRequest('openai responses', message, {}, losses));
    expect(body).toContain('https://example.com/rivers');
    expect(body).not.toContain('QUJDQUJD');
    expect(losses).toContainEqual(expect.objectContaining({ kind: 'withheld', what: 'tool result' }));
  });

  test('separates the sentences of cited texts for another provider', async () => {
    const message = await answer('anthropic', 'anthropic/web-search', anthropicTools());
    const messages = toAiSdkMessages([message], { provider: 'mistral.chat', version: major });
    expect(messages.at(-1)!.content).toEqual([
      { type: 'text', text: 'The Nile is long. ' },
      { type: 'text', text: 'The Amazon is wide.' },
    ]);
  });
});
