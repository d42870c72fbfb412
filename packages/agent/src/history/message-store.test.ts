import { createChatHandler } from '@intertie/ai-sdk';
import { decodeMessage, encodeMessage, type AgentEvent, type CanonicalMessage, type JsonObject } from '@intertie/core';
import type { MemoryStore, Thread } from '@intertie/core';
import { tool } from 'ai';
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { z } from 'zod';

import { call, finish, scriptedModel, text } from '../../../ai-sdk/test/scripted-model.ts';
import { Agent } from '../agent/agent.ts';
import type { AgentOptions } from '../agent/agent-options.ts';
import type { MessageStore } from './message-store.ts';
import { createRunHost } from '../execution/run-host.ts';

/** Rows as JSON, as in a user's own database. */
type Database = { messages: Map<string, JsonObject>; threads: Map<string, Thread> };

class OwnStore implements MessageStore {
  failing: Partial<Record<keyof MessageStore, Error>> = {};
  saves = 0;
  readonly database: Database;

  constructor(database: Database = { messages: new Map(), threads: new Map() }) {
    this.database = database;
  }

  async listMessages({ threadId, limit }: { threadId: string; limit?: number }): Promise<CanonicalMessage[]> {
    this.#mayFail('listMessages');
    const rows = [...this.database.messages.values()].map((row) => decodeMessage(structuredClone(row)));
    const found = rows.filter((row) => row.threadId === threadId);
    return limit === undefined ? found : found.slice(-limit);
  }

  async saveMessages({ messages }: { messages: CanonicalMessage[] }): Promise<void> {
    this.#mayFail('saveMessages');
    this.saves += 1;
    for (const message of messages) this.database.messages.set(message.id, encodeMessage(message));
  }

  async getThreadById({ threadId }: { threadId: string }): Promise<Thread | undefined> {
    this.#mayFail('getThreadById');
    return this.database.threads.get(threadId);
  }

  async saveThread({ thread }: { thread: Thread }): Promise<void> {
    this.#mayFail('saveThread');
    this.database.threads.set(thread.id, thread);
  }

  #mayFail(method: keyof MessageStore): void {
    const error = this.failing[method];
    if (error) throw error;
  }
}

function agentOn(
  store: MessageStore,
  model = scriptedModel([...text('0', 'Fine'), finish()]),
  rest: object = {},
): Agent {
  const agent = new Agent({ model, store, name: 'helper', ...rest });
  onTestFinished(() => agent.close());
  return agent;
}

const getTexts = (messages: readonly CanonicalMessage[]): string[] =>
  messages.map(({ content }) => content.parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));

async function getLast(events: AsyncIterable<AgentEvent>): Promise<AgentEvent | undefined> {
  let last: AgentEvent | undefined;
  for await (const event of events) last = event;
  return last;
}

describe('an agent on a store with four methods', () => {
  it('stores the messages and the thread', async () => {
    const store = new OwnStore();
    const agent = agentOn(store);
    const { text: answer } = await agent.generate({ threadId: 't', message: 'Hello', resourceId: 'ada' });
    expect(answer).toBe('Fine');
    const messages = await store.listMessages({ threadId: 't' });
    expect(getTexts(messages)).toEqual(['Hello', 'Fine']);
    expect(messages).toMatchObject([
      { role: 'user', resourceId: 'ada', status: 'complete' },
      { role: 'assistant', resourceId: 'ada', status: 'complete', parentId: messages[0]!.id },
    ]);
    expect(store.database.threads.get('t')).toMatchObject({
      id: 't',
      resourceId: 'ada',
      title: 'Hello',
      metadata: { agent: 'helper' },
    });
    expect(store.saves).toBe(2);
  });

  it('sends the history to the model in another process', async () => {
    const store = new OwnStore();
    const first = agentOn(store);
    await first.generate({ threadId: 't', message: 'One' });
    await first.generate({ threadId: 't', message: 'Two' });
    const model = scriptedModel([...text('0', 'Three'), finish()]);
    const second = agentOn(new OwnStore(store.database), model);
    await second.generate({ threadId: 't', message: 'And now?' });
    expect(model.doStreamCalls[0]!.prompt.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    expect(getTexts(await store.listMessages({ threadId: 't' }))).toEqual([
      'One',
      'Fine',
      'Two',
      'Fine',
      'And now?',
      'Three',
    ]);
    await first.generate({ threadId: 't', message: 'Back' });
    const { messages, cursor } = await first.history({ threadId: 't', limit: 3 });
    expect(getTexts(messages)).toEqual(['Three', 'Back', 'Fine']);
    const older = await first.history({ threadId: 't', limit: 2, cursor: cursor! });
    expect(getTexts(older.messages)).toEqual(['Fine', 'And now?']);
  });

  it('limits the history as with any store', async () => {
    const store = new OwnStore();
    for (const message of ['One', 'Two', 'Three']) await agentOn(store).generate({ threadId: 't', message });
    const model = scriptedModel([...text('0', 'Fine'), finish()]);
    await agentOn(store, model, { history: { maxMessages: 3 } }).generate({ threadId: 't', message: 'Now' });
    expect(JSON.stringify(model.doStreamCalls[0]!.prompt)).toMatch(/Three.*Now/);
    expect(JSON.stringify(model.doStreamCalls[0]!.prompt)).not.toMatch(/Two/);
  });

  it('shares its runs with other agents on the same store', async () => {
    const store = new OwnStore();
    const run = await agentOn(store).stream({ threadId: 't', message: 'Hello' });
    const followed = await agentOn(store).attach(run.runId);
    expect(await getLast(followed!.events)).toMatchObject({ type: 'run-end', outcome: 'complete' });
  });

  it('saves a paused answer, and continues it in the same message', async () => {
    const store = new OwnStore();
    const model = scriptedModel([call('c1', 'remove'), finish('tool-calls')], [...text('0', 'Done'), finish()]);
    const remove = tool({ inputSchema: z.object({}), needsApproval: true, execute: async () => 'gone' });
    const agent = agentOn(store, model, { tools: { remove } });
    const asked = await agent.generate({ threadId: 't', message: 'Remove it' });
    expect((await store.listMessages({ threadId: 't' })).at(-1)).toMatchObject({ status: 'paused' });
    const [decision] = await agent.store.registry.listDecisions(agent.store.scope, { threadId: 't', state: 'open' });
    const { run } = await agent.answer(asked.runId, [{ questionId: decision!.id, approved: true }]);
    const { message } = (await agent.attach(run!.runId))!;
    expect(await message).toMatchObject({ id: asked.message.id, status: 'complete' });
    const messages = await store.listMessages({ threadId: 't' });
    expect(messages).toHaveLength(2);
    expect(messages[1]).toMatchObject({
      status: 'complete',
      content: { parts: [{ state: 'result', result: 'gone' }, { text: 'Done' }] },
    });
  });

  it('saves a paused answer that a new message supersedes as aborted', async () => {
    const store = new OwnStore();
    const model = scriptedModel([call('c1', 'remove'), finish('tool-calls')], [...text('0', 'Done'), finish()]);
    const remove = tool({ inputSchema: z.object({}), needsApproval: true, execute: async () => 'gone' });
    const agent = agentOn(store, model, { tools: { remove } });
    await agent.generate({ threadId: 't', message: 'Remove it' });
    await agent.generate({ threadId: 't', message: 'Never mind' });
    expect((await store.listMessages({ threadId: 't' })).map(({ status }) => status)).toEqual([
      'complete',
      'aborted',
      'complete',
      'complete',
    ]);
  });

  it('saves queued messages in the order of their runs', async () => {
    const store = new OwnStore();
    const agent = agentOn(store, scriptedModel([...text('0', 'A'), finish()], [...text('0', 'B'), finish()]));
    const [first, second] = await Promise.all([
      agent.generate({ threadId: 't', message: 'One', busy: 'queue' }),
      agent.generate({ threadId: 't', message: 'Two', busy: 'queue' }),
    ]);
    expect([first.text, second.text]).toEqual(['A', 'B']);
    expect(getTexts(await store.listMessages({ threadId: 't' }))).toEqual(['One', 'A', 'Two', 'B']);
  });

  it('saves large files inline, because the store has no blobs', async () => {
    const store = new OwnStore();
    const base64 = 'AAAA'.repeat(20_000);
    const source = {
      name: 'painter',
      pauses: 'replay' as const,
      run: () =>
        new ReadableStream<AgentEvent>({
          start(controller) {
            controller.enqueue({ type: 'file', id: 'f', mimeType: 'image/png', data: base64 });
            controller.close();
          },
        }),
    };
    const agent = new Agent({ source, store });
    onTestFinished(() => agent.close());
    await agent.generate({ threadId: 't', message: 'Paint' });
    const [, answer] = await store.listMessages({ threadId: 't' });
    expect(answer!.content.parts).toMatchObject([{ type: 'file', data: base64 }]);
  });

  it('rejects with an error that names listMessages if a start cannot read the thread', async () => {
    const store = new OwnStore();
    store.failing = { listMessages: new Error('disk full') };
    const message = 'The message store failed in listMessages: disk full';
    await expect(agentOn(store).stream({ threadId: 't', message: 'Hello' })).rejects.toMatchObject({
      message,
      code: 'store-failed',
    });
  });

  it.each(['saveMessages', 'getThreadById', 'saveThread'] as const)(
    'ends the run with an error that names %s if it fails',
    async (method) => {
      const store = new OwnStore();
      store.failing = { [method]: new Error('disk full') };
      const run = await agentOn(store).stream({ threadId: 't', message: 'Hello' });
      const error = { message: `The message store failed in ${method}: disk full`, code: 'store-failed' };
      expect(await getLast(run.events)).toMatchObject({ type: 'run-end', outcome: 'error', error });
      expect(await run.record()).toMatchObject({ state: 'error' });
    },
  );

  it('ends the run with an error if the answer cannot be saved, and saves it before the next run', async () => {
    const store = new OwnStore();
    const source = {
      name: 'writer',
      pauses: 'replay' as const,
      run: () =>
        new ReadableStream<AgentEvent>({
          start(controller) {
            store.failing = { saveMessages: new Error('disk full') };
            controller.enqueue({ type: 'text-start', id: '0' });
            controller.enqueue({ type: 'text-delta', id: '0', delta: 'Fine' });
            controller.close();
          },
        }),
    };
    const agent = new Agent({ source, store });
    onTestFinished(() => agent.close());
    const run = await agent.stream({ threadId: 't', message: 'Hello' });
    const error = { message: 'The message store failed in saveMessages: disk full', code: 'store-failed' };
    expect(await getLast(run.events)).toMatchObject({ type: 'run-end', outcome: 'error', error });
    expect(await run.message).toMatchObject({ status: 'error', content: { runs: [{ outcome: 'error', error }] } });
    expect(getTexts(await store.listMessages({ threadId: 't' }))).toEqual(['Hello']);

    store.failing = {};
    const { message } = await agentOn(store).generate({ threadId: 't', message: 'Again', parentId: run.messageId });
    expect(message.status).toBe('complete');
    expect(getTexts(await store.listMessages({ threadId: 't' }))).toEqual(['Hello', 'Fine', 'Again', 'Fine']);
  });

  it.each(['prompt', 'response'])(
    'reports the error and the result of a run whose %s cannot be saved',
    async (what) => {
      const store = new OwnStore();
      const reported: unknown[] = [];
      const host = createRunHost(store, {
        onRunError: ({ runId }, { code }) => void reported.push([runId, code]),
        observer: { runEnded: ({ result }) => void reported.push(result) },
      });
      const isLate = what === 'response';
      const fail = (): void => void (store.failing = { saveMessages: new Error('disk full') });
      const source = {
        name: 'writer',
        pauses: 'replay' as const,
        run: () =>
          new ReadableStream<AgentEvent>({
            start(controller) {
              if (isLate) fail();
              controller.enqueue({ type: 'run-end', outcome: 'complete' });
              controller.close();
            },
          }),
      };
      if (!isLate) fail();
      const agent = new Agent({ source, store, host });
      const run = await agent.stream({ threadId: 't', message: 'Hello' });
      await getLast(run.events);
      await host.close();
      expect(reported).toHaveLength(2);
      expect(reported).toEqual(expect.arrayContaining([[run.runId, 'store-failed'], 'error']));
    },
  );

  it('refuses branches and other scopes with a clear error', async () => {
    const agent = agentOn(new OwnStore());
    const { message } = await agent.generate({ threadId: 't', message: 'Hello' });
    await expect(agent.generate({ threadId: 't', parentId: message.parentId! })).rejects.toThrow(/has no branches/);
    expect(() => agent.forScope('ada')).toThrow(/has one scope/);
    await expect(agent.generate({ threadId: 't', parentId: message.id, message: 'More' })).resolves.toMatchObject({
      text: 'Fine',
    });
  });

  it('serves createChatHandler', async () => {
    const store = new OwnStore();
    const agent = agentOn(store);
    const handler = createChatHandler(agent);
    const post = async (body: object): Promise<string> => {
      const request = new Request('http://localhost/api/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return (await handler(request)).text();
    };
    const first = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] };
    expect(await post({ id: 't', messages: [first], trigger: 'submit-message' })).toContain('Fine');
    const { messages } = await agent.history({ threadId: 't', format: 'ui' });
    const second = { id: 'u2', role: 'user', parts: [{ type: 'text', text: 'More' }] };
    expect(await post({ id: 't', messages: [...messages, second], trigger: 'submit-message' })).toContain('Fine');
    expect(getTexts(await store.listMessages({ threadId: 't' }))).toEqual(['Hello', 'Fine', 'More', 'Fine']);
  });

  it('imports a conversation', async () => {
    const store = new OwnStore();
    await agentOn(store).importMessages({
      threadId: 't',
      messages: [{ role: 'user', content: 'Hello' }],
      title: 'Old',
    });
    expect(getTexts(await store.listMessages({ threadId: 't' }))).toEqual(['Hello']);
    expect(store.database.threads.get('t')).toMatchObject({ title: 'Old' });
  });

  it('frees the memory of threads whose logs are dropped', async () => {
    const store = new OwnStore();
    const host = createRunHost(store, { sweepMs: 5, logRetentionMs: 0 });
    const agent = agentOn(store, undefined, { host });
    onTestFinished(() => host.close());
    const { runId } = await agent.generate({ threadId: 't', message: 'Hello' });
    await expect.poll(() => agent.attach(runId)).toBeNull();
    await agent.generate({ threadId: 't', message: 'Again' });
    expect(getTexts(await store.listMessages({ threadId: 't' }))).toEqual(['Hello', 'Fine', 'Again', 'Fine']);
  });

  it('names the methods that an object lacks', () => {
    const store = { listMessages: async () => [], saveMessages: async () => undefined } as unknown as MessageStore;
    expect(() => agentOn(store)).toThrow(/store has no getThreadById, saveThread\. Pass createStore\(\)/);
  });

  it('accepts the four methods of MemoryStore in its types', () => {
    type Four = Pick<MemoryStore, 'listMessages' | 'saveMessages' | 'getThreadById' | 'saveThread'>;
    expectTypeOf<Four>().toExtend<MessageStore>();
    expectTypeOf<OwnStore>().toExtend<NonNullable<AgentOptions['store']>>();
  });
});
