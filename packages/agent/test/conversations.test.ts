import {
  createInMemoryStore,
  type AgentEvent,
  type AgentSource,
  type CanonicalMessage,
  type Loss,
} from '@intertie/core';
import { stepCountIs, tool, type ModelMessage, type UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { call, finish, scriptedModel, text } from '../../ai-sdk/test/scripted-model.ts';
import { Agent } from '../src/agent/agent.ts';
import type { AgentOptions } from '../src/agent/agent-options.ts';

const createModel = (...texts: string[]) => scriptedModel(...texts.map((each) => [...text('0', each), finish()]));
const createAgent = (options: Partial<AgentOptions> = {}, ...texts: string[]) => {
  const model = createModel(...(texts.length > 0 ? texts : ['Fine']));
  return { model, agent: new Agent({ model, ...options } as AgentOptions) };
};

function message(n: number, role: 'user' | 'assistant'): CanonicalMessage {
  const content = { format: 2 as const, parts: [{ type: 'text' as const, text: `Message ${n}` }] };
  return { id: `m${n}`, threadId: 't', role, type: 'text', content, createdAt: new Date(n), status: 'complete' };
}

const getPrompt = ({ model }: ReturnType<typeof createAgent>, index = 0): string[] =>
  model.doStreamCalls[index]!.prompt.flatMap(({ content }) =>
    Array.isArray(content) ? content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [content],
  );

describe('history', () => {
  it('returns pages from the newest messages on, in three formats', async () => {
    const { agent } = createAgent({}, 'One', 'Two', 'Three');
    for (const request of ['a', 'b', 'c']) await agent.generate({ threadId: 't', message: request });
    const last = await agent.history({ threadId: 't', limit: 4, format: 'ui' });
    expect(last.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    const first = await agent.history({ threadId: 't', limit: 4, cursor: last.cursor! });
    expect(first.messages.map(({ content }) => content.parts[0])).toMatchObject([{ text: 'a' }, { text: 'One' }]);
    expect(first.cursor).toBeUndefined();
    expect((await agent.history({ threadId: 't', format: 'model' })).messages).toHaveLength(6);
  });

  it('sends the part of 10k messages that the limits allow, beginning with a user message', async () => {
    const store = createInMemoryStore();
    const messages = Array.from({ length: 10_000 }, (_, n) => message(n, n % 2 ? 'assistant' : 'user'));
    await store.saveMessages({ messages });
    const few = createAgent({ store, history: { maxMessages: 6 } });
    await few.agent.generate({ threadId: 't', message: 'Now' });
    expect(getPrompt(few)).toEqual(['Message 9996', 'Message 9997', 'Message 9998', 'Message 9999', 'Now']);
    const cheap = createAgent({ store, history: { maxTokens: 7, countTokens: () => 2 } });
    await cheap.agent.generate({ threadId: 't', message: 'And now' });
    expect(getPrompt(cheap)).toEqual(['Now', 'Fine', 'And now']);
    const one = createAgent({ store, history: { maxTokens: 1 } });
    await one.agent.generate({ threadId: 't', message: 'Alone' });
    expect(getPrompt(one)).toEqual(['Alone']);
    const byDefault = createAgent({ store });
    await byDefault.agent.generate({ threadId: 't', message: 'Recent' });
    expect(getPrompt(byDefault)).toHaveLength(199);
    const all = createAgent({ store, history: { maxMessages: Infinity } });
    await all.agent.generate({ threadId: 't', message: 'All' });
    expect(getPrompt(all)).toHaveLength(10_009);
  });

  it.each([
    ['all', ['Hm', '']],
    ['metadata-only', ['', '']],
    ['none', []],
  ] as const)('sends the reasoning that retainReasoning selects: %s', async (retainReasoning, thoughts) => {
    const store = createInMemoryStore();
    const signed = { scripted: { signature: 'x' } };
    const answer = message(1, 'assistant');
    answer.content.parts.unshift(
      { type: 'reasoning', reasoning: 'Hm', providerMetadata: signed },
      { type: 'reasoning', reasoning: '', providerMetadata: signed },
    );
    await store.saveMessages({ messages: [message(0, 'user'), answer] });
    const { agent, model } = createAgent({ store, retainReasoning });
    await agent.generate({ threadId: 't', message: 'Now' });
    const [, assistant] = model.doStreamCalls[0]!.prompt;
    const sent = (assistant!.content as Array<{ type: string; text: string }>).filter(
      ({ type }) => type === 'reasoning',
    );
    expect(sent.map((part) => part.text)).toEqual(thoughts);
  });
});

describe('a request with the messages of a chat', () => {
  it('uses the last message, and reports a loss if the store does not have the ones before it', async () => {
    const losses: Loss[] = [];
    const { agent, model } = createAgent({ onLoss: (loss) => losses.push(loss) });
    const messages: ModelMessage[] = [
      { role: 'user', content: 'A story that the store does not have' },
      { role: 'assistant', content: 'Indeed' },
      { role: 'user', content: 'Go on' },
    ];
    await agent.generate({ threadId: 't', messages });
    expect(getPrompt({ agent, model })).toEqual(['Go on']);
    expect(losses).toContainEqual(expect.objectContaining({ kind: 'withheld', what: 'messages' }));
    const answered = agent.generate({ threadId: 't', messages: messages.slice(0, 2) });
    await expect(answered).rejects.toThrow('a run needs a user message');
    await agent.close();
  });
});

describe('a thread', () => {
  it('takes the title of a thread from the title function', async () => {
    const { agent } = createAgent({ name: 'helper', title: async ({ message: { id } }) => `About ${id}` });
    const request = { id: 'u1', content: { format: 2 as const, parts: [{ type: 'text' as const, text: 'Hi' }] } };
    await agent.generate({ threadId: 't', message: request });
    await agent.close({ drainMs: 1000 });
    expect(await agent.store.getThreadById({ threadId: 't' })).toMatchObject({
      title: 'About u1',
      metadata: { agent: 'helper' },
    });
  });

  it('reports the usage of a thread, and `unknown` instead of zero for runs without usage', async () => {
    const store = createInMemoryStore();
    const { agent } = createAgent({ store, name: 'helper' }, 'One', 'Two');
    await agent.generate({ threadId: 't', message: 'a' });
    await agent.generate({ threadId: 't', message: 'b' });
    const source = { name: 'silent', pauses: 'replay' as const, run: () => new ReadableStream<never>() };
    const silent = new Agent({ source, store });
    const run = await silent.start({ threadId: 't' });
    await run.stop();
    const usage = await agent.usage({ threadId: 't' });
    expect(usage).toMatchObject({
      total: { inputTokens: 20, outputTokens: 10 },
      agents: { helper: { inputTokens: 20 }, silent: 'unknown' },
    });
    expect(usage.runs.map((each) => each.usage)).toMatchObject([{ inputTokens: 10 }, { inputTokens: 10 }, 'unknown']);
  });

  it('reports the usage of agents inside a run, including a stopped run', async () => {
    const store = createInMemoryStore();
    const events: AgentEvent[] = [
      { type: 'agent-start', agentId: 'a1', name: 'ann', kind: 'agent' },
      { type: 'step-start', stepId: 's1', agentId: 'a1' },
      { type: 'step-end', stepId: 's1', usage: [{ model: 'm', inputTokens: 3 }] },
      { type: 'agent-end', agentId: 'a1', outcome: 'complete' },
      { type: 'agent-start', agentId: 'a2', name: 'ann', kind: 'agent' },
      { type: 'agent-end', agentId: 'a2', outcome: 'complete', usage: [{ model: 'm', inputTokens: 4 }] },
      { type: 'agent-start', agentId: 'b1', name: 'bob', kind: 'agent' },
    ];
    const source: AgentSource = {
      name: 'swarm',
      pauses: 'replay',
      run: () => new ReadableStream({ start: (controller) => events.forEach((event) => controller.enqueue(event)) }),
    };
    const agent = new Agent({ source, store });
    const run = await agent.stream({ threadId: 't', message: 'Go' });
    for await (const event of run.events) if (event.type === 'agent-start' && event.name === 'bob') break;
    await run.stop();
    await run.message;
    expect(await agent.usage({ threadId: 't' })).toMatchObject({
      total: { inputTokens: 7 },
      agents: { swarm: { inputTokens: 7 } },
      inside: { ann: { inputTokens: 7 }, bob: 'unknown' },
    });
  });

  it('imports UI messages and model messages once, and reports losses', async () => {
    const { agent, model } = createAgent();
    const ui: UIMessage[] = [
      { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      { id: 'a1', role: 'assistant', parts: [{ type: 'text', text: 'Ho' }, { type: 'unheard-of' } as never] },
    ];
    const { messages, losses } = await agent.importMessages({ threadId: 't', messages: ui, title: 'Old' });
    expect(messages).toMatchObject([{ id: 'u1' }, { id: 'a1', parentId: 'u1', status: 'complete' }]);
    expect(losses).toMatchObject([{ kind: 'unsupported', what: 'unheard-of' }]);
    await agent.importMessages({ threadId: 't', messages: ui });
    expect((await agent.history({ threadId: 't' })).messages).toHaveLength(2);
    await agent.generate({ threadId: 't', message: 'Go on' });
    expect(getPrompt({ agent, model })).toEqual(['Hi', 'Ho', 'Go on']);
    const modelMessages: ModelMessage[] = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'look', input: {} }] },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'look', output: { type: 'text', value: 'sun' } }],
      },
    ];
    const imported = await agent.importMessages({ threadId: 'm', messages: modelMessages });
    expect(imported.messages).toMatchObject([{ role: 'user' }, { content: { parts: [{ state: 'result' }] } }]);
  });
});

describe('stored reasoning', () => {
  const signature = { scripted: { signature: 'x' } };
  const thought = [
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-delta', id: 'r', delta: 'A secret' },
    { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: signature },
    { type: 'reasoning-end', id: 'r' },
    { type: 'reasoning-start', id: 'unsigned' },
    { type: 'reasoning-delta', id: 'unsigned', delta: 'A secret' },
    { type: 'reasoning-end', id: 'unsigned' },
  ] as const;
  const reasoningIn = ({ content }: CanonicalMessage) => content.parts.filter(({ type }) => type === 'reasoning');

  it.each([
    ['all', ['A secret', 'A secret']],
    ['signatures', ['']],
    ['none', []],
  ] as const)('stores the reasoning that storeReasoning selects: %s', async (storeReasoning, stored) => {
    const model = scriptedModel([...thought, ...text('0', 'Fine'), finish()]);
    const agent = new Agent({ model, storeReasoning });
    const run = await agent.stream({ threadId: 't', message: 'Hello' });
    const parts = reasoningIn(await run.message);
    expect(parts).toMatchObject(stored.map((reasoning) => ({ reasoning })));
    const signed = parts.filter(({ providerMetadata }) => providerMetadata);
    expect(signed).toMatchObject(stored.slice(0, 1).map(() => ({ providerMetadata: signature })));
    const { key } = await run.record();
    const written = JSON.stringify([
      await agent.store.listMessages({ threadId: 't' }),
      await agent.store.log.read(key, { epoch: 0, seq: 0 }),
    ]);
    expect(written.includes('A secret')).toBe(storeReasoning === 'all');
    await agent.close();
  });

  it.each(['signatures', 'none'] as const)('sends signatures back to the provider within a run: %s', async (mode) => {
    const look = { inputSchema: z.object({}), execute: async () => 'seen' };
    const model = scriptedModel(
      [...thought, call('c1', 'look'), finish('tool-calls')],
      [call('c2', 'remove'), finish('tool-calls')],
      [...text('0', 'Done'), finish()],
    );
    const tools = { look: tool(look), remove: tool({ ...look, needsApproval: true }) };
    const agent = new Agent({ model, tools, storeReasoning: mode, stopWhen: stepCountIs(5) });
    const asked = await agent.generate({ threadId: 't', message: 'Look, then remove' });
    const reasoningSent = (request: number) =>
      model.doStreamCalls[request]!.prompt.flatMap(({ content }) =>
        Array.isArray(content) ? content.filter(({ type }) => type === 'reasoning') : [],
      );
    expect(reasoningSent(1)).toMatchObject([{ text: 'A secret', providerOptions: signature }, { text: 'A secret' }]);
    expect(reasoningIn(asked.message)).toMatchObject([{ reasoning: '', providerMetadata: signature }]);

    const [decision] = await agent.store.registry.listDecisions(agent.store.scope, { threadId: 't', state: 'open' });
    const { run } = await agent.answer(asked.runId, [{ questionId: decision!.id, approved: true }]);
    const ended = await (await agent.attach(run!.runId))!.message;
    expect(reasoningSent(2)).toMatchObject([{ text: '', providerOptions: signature }]);
    expect(reasoningIn(ended)).toHaveLength(mode === 'none' ? 0 : 1);
    await agent.close();
  });

  it('removes reasoning from imported messages', async () => {
    const agent = new Agent({ model: createModel('Fine'), storeReasoning: 'none' });
    const parts = [
      { type: 'reasoning' as const, text: 'A secret' },
      { type: 'text' as const, text: 'Fine' },
    ];
    const { messages } = await agent.importMessages({
      threadId: 't',
      messages: [{ id: 'm1', role: 'assistant', parts }],
    });
    expect(messages[0]?.content.parts).toMatchObject([{ type: 'text', text: 'Fine' }]);
  });
});
