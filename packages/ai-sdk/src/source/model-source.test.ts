import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import { canonical, check } from '@intertie/conformance';
import {
  foldEvents,
  type AgentEvent,
  type Answer,
  type CanonicalMessage,
  type EventOf,
  type Loss,
  type ModelCall,
  type ModelCallEnd,
  type OnModelCall,
  type RunControl,
  type RunInput,
} from '@intertie/core';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { runControl } from '../../../core/test/run-control.ts';
import { call, collect, finish, majors, runInput, scriptedModel, text } from '../../test/scripted-model.ts';
import { modelSource, type ModelSourceOptions } from './model-source.ts';

const user: CanonicalMessage = {
  id: 'user-1',
  threadId: 'thread-1',
  role: 'user',
  type: 'text',
  content: { format: 2, parts: [{ type: 'text', text: 'hi' }] },
  createdAt: new Date(0),
};

type Ran = { events: AgentEvent[]; message: CanonicalMessage; end: EventOf<'run-end'> };

describe.each(majors)('$name', ({ ai, major }) => {
  const source = (model: ReturnType<typeof scriptedModel>, options: ModelSourceOptions = {}) =>
    modelSource(model, { streamText: ai.streamText, ...options });

  async function run(
    model: ReturnType<typeof scriptedModel>,
    options: ModelSourceOptions = {},
    input: Partial<RunInput> = {},
    controls: Partial<RunControl> = {},
  ): Promise<Ran> {
    const stream = source(model, options).run(runInput({ history: [user], ...input }), runControl(controls));
    const events = await collect(stream as unknown as AsyncIterable<AgentEvent>);
    expect(check(canonical, events).violations).toEqual([]);
    return { events, message: foldEvents(events)!, end: events.at(-1) as EventOf<'run-end'> };
  }
  const getPrompt = (model: ReturnType<typeof scriptedModel>, step = 0): LanguageModelV3CallOptions['prompt'] =>
    model.doStreamCalls[step]!.prompt;

  test('calls the model with history, instructions and context', async () => {
    const model = scriptedModel([...text('0', 'Hello'), finish()]);
    const { message, end } = await run(
      model,
      { instructions: 'Be brief.', maxOutputTokens: 7, headers: { a: 'b' } },
      { context: [{ description: 'The page', value: 'settings' }] },
    );
    expect(message.content.parts).toMatchObject([{ type: 'text', text: 'Hello' }]);
    expect(end).toMatchObject({ outcome: 'complete', usage: [{ inputTokens: 10 }] });
    expect(getPrompt(model)).toMatchObject([
      { role: 'system', content: 'Be brief.\n\nThe page:\nsettings' },
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    ]);
    expect(model.doStreamCalls[0]).toMatchObject({ maxOutputTokens: 7 });
    expect(JSON.stringify(getPrompt(model))).not.toContain('intertie');
  });

  test('runs steps until the model is done, and waits for the barrier before each tool', async () => {
    const model = scriptedModel(
      [call('c1', 'add', { a: 1 }), call('c2', 'add', { a: 2 }), finish('tool-calls')],
      [...text('0', 'Done'), finish()],
    );
    const order: string[] = [];
    const tools = {
      add: ai.tool({
        inputSchema: z.object({ a: z.number() }),
        execute: async ({ a }) => {
          order.push(`run ${a}`);
          return a + 1;
        },
      }),
    };
    const { message, events } = await run(
      model,
      { tools },
      {},
      {
        barrier: async (id) => {
          order.push(`barrier ${id}`);
        },
      },
    );
    expect(order.toSorted()).toEqual(['barrier c1', 'barrier c2', 'run 1', 'run 2']);
    expect(order.indexOf('barrier c1')).toBeLessThan(order.indexOf('run 1'));
    expect(order.indexOf('barrier c2')).toBeLessThan(order.indexOf('run 2'));
    expect(message.content.parts).toMatchObject([{ result: 2 }, { result: 3 }, { text: 'Done' }]);
    // The preliminary result of a plain tool is dropped.
    expect(events.filter(({ type }) => type === 'tool-result')).toHaveLength(2);
  });

  test('runs no tool before its call is read or after the barrier rejects', async () => {
    const execute = vi.fn<() => Promise<string>>(async () => 'ran');
    const tools = { act: ai.tool({ inputSchema: z.object({}), execute }) };
    const model = scriptedModel([call('c1', 'act'), finish('tool-calls')], [finish()]);
    const reader = source(model, { tools })
      .run(runInput({ history: [user] }), runControl())
      .getReader();
    await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(execute).not.toHaveBeenCalled();
    for (;;) if ((await reader.read()).done) break;
    expect(execute).toHaveBeenCalledOnce();

    execute.mockClear();
    const refused = await run(
      scriptedModel([call('c1', 'act'), finish('tool-calls')], [finish()]),
      { tools },
      {},
      {
        barrier: async () => Promise.reject(new Error('A stop was requested.')),
      },
    );
    expect(execute).not.toHaveBeenCalled();
    expect(refused.message.content.parts).toMatchObject([
      { state: 'error', error: { message: 'A stop was requested.' } },
    ]);
  });

  test('passes our call id to the barrier if the provider repeats an id', async () => {
    const barrier = vi.fn<(toolCallId?: string) => Promise<void>>(async () => undefined);
    const tools = { act: ai.tool({ inputSchema: z.object({}), execute: async () => 'ok' }) };
    const model = scriptedModel(
      [call('0', 'act'), finish('tool-calls')],
      [call('0', 'act'), finish('tool-calls')],
      [finish()],
    );
    await run(model, { tools }, {}, { barrier });
    expect(barrier.mock.calls).toEqual([['0'], ['run-1:0']]);
  });

  test('settles both calls of one step that have the same id', async () => {
    const tools = {
      add: ai.tool({ inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => a + 1 }),
    };
    const model = scriptedModel(
      [call('0', 'add', { a: 1 }), call('0', 'add', { a: 2 }), finish('tool-calls')],
      [...text('0', 'Done'), finish()],
    );
    const { message, end } = await run(model, { tools });
    expect(end.outcome).toBe('complete');
    expect(message.content.parts).toMatchObject([{ result: 2 }, { result: 3 }, { text: 'Done' }]);
  });

  test('runs a call once if the model’s stream contains several responses', async () => {
    const execute = vi.fn<() => Promise<string>>(async () => 'ran');
    const tools = { act: ai.tool({ inputSchema: z.object({}), execute }) };
    const model = scriptedModel(
      [call('c', 'act'), finish('tool-calls'), ...text('0', 'More'), finish('tool-calls')],
      [...text('0', 'Done'), finish()],
    );
    const { message, end } = await run(model, { tools });
    expect(end.outcome).toBe('complete');
    expect(execute).toHaveBeenCalledOnce();
    expect(message.content.parts[0]).toMatchObject({ toolCallId: 'c', state: 'result', result: 'ran' });
  });

  test('ends if a transform removes a call from the stream', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const execute = vi.fn<() => Promise<string>>(async () => 'ran');
      const tools = { act: ai.tool({ inputSchema: z.object({}), execute }) };
      const model = scriptedModel([call('c', 'act'), finish('tool-calls')], [...text('0', 'Done'), finish()]);
      const over = new AbortController();
      const running = run(model, {
        tools,
        experimental_transform: () =>
          new TransformStream({
            transform(part, controller) {
              if (part.type !== 'tool-call') controller.enqueue(part);
            },
          }),
      }).finally(() => over.abort());
      while (!over.signal.aborted) await vi.advanceTimersByTimeAsync(1000);
      const { end, message } = await running;
      expect(end.outcome).toBe('complete');
      expect(execute).not.toHaveBeenCalled();
      expect(message.content.parts).toMatchObject([{ text: 'Done' }]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('streams preliminary results of a tool', async () => {
    const tools = {
      slow: ai.tool({
        inputSchema: z.object({}),
        async *execute() {
          yield 'half';
          yield 'whole';
        },
      }),
    };
    const { events } = await run(scriptedModel([call('c', 'slow'), finish('tool-calls')], [finish()]), { tools });
    expect(
      events.flatMap((event) => (event.type === 'tool-result' && event.status === 'ok' ? [event.output] : [])),
    ).toEqual(['half', 'whole', 'whole']);
  });

  test('pauses at a client tool and continues the message with its result', async () => {
    const model = scriptedModel([...text('0', 'Asking.'), call('c', 'ask', { q: 1 }), finish('tool-calls')]);
    const tools = [{ name: 'ask', description: 'Asks', inputSchema: { type: 'object' } }];
    const first = await run(model, {}, { tools });
    expect(first.end).toMatchObject({ outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'c' }] });
    expect(model.doStreamCalls[0]!.tools).toMatchObject([{ type: 'function', name: 'ask', description: 'Asks' }]);

    const next = scriptedModel([...text('0', 'Thanks.'), finish()]);
    const second = await run(
      next,
      {},
      {
        runId: 'run-2',
        resumes: 'run-1',
        message: first.message.content,
        answers: [{ toolCallId: 'c', status: 'ok', output: { a: 2 } }],
        tools,
      },
    );
    expect(second.end.outcome).toBe('complete');
    expect(second.message.content.parts).toMatchObject([
      { text: 'Asking.' },
      { toolCallId: 'c', state: 'result', result: { a: 2 } },
      { text: 'Thanks.' },
    ]);
    expect(getPrompt(next)).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'text' }, { type: 'tool-call', toolCallId: 'c' }] },
      { role: 'tool', content: [{ toolCallId: 'c', output: { type: 'json', value: { a: 2 } } }] },
    ]);
  });

  test('ignores a client tool with the name of a source tool', async () => {
    const losses: Loss[] = [];
    const execute = vi.fn<() => Promise<string>>(async () => 'ours');
    const tools = { act: ai.tool({ inputSchema: z.object({}), execute }) };
    const model = scriptedModel([call('c', 'act'), finish('tool-calls')], [finish()]);
    const { end } = await run(model, { tools, onLoss: (loss) => losses.push(loss) }, { tools: [{ name: 'act' }] });
    expect(end.outcome).toBe('complete');
    expect(execute).toHaveBeenCalledOnce();
    expect(losses.map(({ what }) => what)).toContain('client tool act');
  });

  describe('approvals', () => {
    const approvable = (execute: () => Promise<string>) => ({
      risky: ai.tool({ inputSchema: z.object({ n: z.string().transform(Number) }), needsApproval: true, execute }),
    });
    const asking = () => [call('a', 'risky', { n: '1' }), call('b', 'risky', { n: '2' }), finish('tool-calls')];
    const getQuestionId = (message: CanonicalMessage, index: number): string => {
      const part = message.content.parts[index];
      return part?.type === 'tool-invocation' ? part.approval!.questionId : '';
    };

    test('runs the granted call of two once, after the barrier', async () => {
      const execute = vi.fn<() => Promise<string>>(async () => 'done');
      const barrier = vi.fn<(toolCallId?: string) => Promise<void>>(async () => undefined);
      const tools = approvable(execute);
      const first = await run(scriptedModel(asking()), { tools });
      expect(first.end).toMatchObject({ outcome: 'paused' });
      expect(execute).not.toHaveBeenCalled();
      const model = scriptedModel([...text('0', 'So be it.'), finish()]);
      const answers: Answer[] = [
        { questionId: getQuestionId(first.message, 0), approved: true },
        { questionId: getQuestionId(first.message, 1), approved: false, reason: 'too dear' },
      ];
      const input = { runId: 'run-2', resumes: 'run-1', message: first.message.content, answers };
      const second = await run(model, { tools }, input, { barrier });
      expect(second.end).toMatchObject({ outcome: 'complete' });
      expect(second.message.content.parts).toMatchObject([
        { toolCallId: 'a', state: 'result', result: 'done', approval: { answer: { approved: true } } },
        { toolCallId: 'b', state: 'denied', error: { message: 'too dear' } },
        { type: 'text', text: 'So be it.' },
      ]);
      expect(execute).toHaveBeenCalledOnce();
      expect(barrier.mock.calls).toEqual([['a']]);
      expect(getPrompt(model).at(-1)).toMatchObject({
        role: 'tool',
        content: expect.arrayContaining([
          expect.objectContaining({ toolCallId: 'a', output: { type: 'text', value: 'done' } }),
          expect.objectContaining({ toolCallId: 'b', output: { type: 'execution-denied', reason: 'too dear' } }),
        ]),
      });
    });

    test('sends an invalid call id under another one and restores it', async () => {
      const tools = approvable(async () => 'done');
      const first = await run(scriptedModel(asking()), { tools });
      const message = structuredClone(first.message.content);
      const [part] = message.parts.splice(0, 2);
      if (part?.type !== 'tool-invocation' || !part.approval) throw new Error('No approval was asked for.');
      Object.assign(part, { toolCallId: 'run-0:1' });
      part.approval.toolCallId = 'run-0:1';
      message.parts.push(part);
      const model = scriptedModel([...text('0', 'Done.'), finish()]);
      const barrier = vi.fn<(toolCallId?: string) => Promise<void>>(async () => undefined);
      const answers: Answer[] = [{ questionId: part.approval.questionId, approved: true }];
      const second = await run(model, { tools }, { runId: 'run-2', resumes: 'run-1', message, answers }, { barrier });
      expect(second.message.content.parts).toMatchObject([
        { toolCallId: 'run-0:1', state: 'result' },
        { text: 'Done.' },
      ]);
      expect(barrier.mock.calls).toEqual([['run-0:1']]);
      expect(getPrompt(model).at(-1)).toMatchObject({ role: 'tool', content: [{ toolCallId: 'run-0_1' }] });
    });

    test('records one of two answers and stays paused without calling the model', async () => {
      const tools = approvable(async () => 'done');
      const first = await run(scriptedModel(asking()), { tools });
      const model = scriptedModel([finish()]);
      const answers: Answer[] = [{ questionId: getQuestionId(first.message, 0), approved: true }];
      const second = await run(
        model,
        { tools },
        { runId: 'run-2', resumes: 'run-1', message: first.message.content, answers },
      );
      expect(second.end).toMatchObject({
        outcome: 'paused',
        waitingFor: [{ type: 'question', questionId: getQuestionId(first.message, 1) }],
      });
      expect(second.message.content.parts[0]).toMatchObject({ approval: { answer: { approved: true } } });
      expect(model.doStreamCalls).toHaveLength(0);
    });

    test('sends unanswered calls as denied after a new message', async () => {
      const tools = approvable(async () => 'done');
      const first = await run(scriptedModel(asking()), { tools });
      const model = scriptedModel([...text('0', 'Fine.'), finish()]);
      const { end } = await run(
        model,
        { tools },
        { runId: 'run-2', messageId: 'm2', history: [user, first.message, user] },
      );
      expect(end.outcome).toBe('complete');
      expect(getPrompt(model)[2]).toMatchObject({
        role: 'tool',
        content: [
          { toolCallId: 'a', output: { type: 'execution-denied' } },
          { toolCallId: 'b', output: { type: 'execution-denied' } },
        ],
      });
    });
  });

  test('ends the run on abort and stops the model and a waiting tool', async () => {
    const abort = new AbortController();
    let modelStopped = false;
    const model = scriptedModel([]);
    model.doStream = async ({ abortSignal }) => ({
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'text-start', id: '0' });
          controller.enqueue({ type: 'text-delta', id: '0', delta: 'so f' });
          abortSignal?.addEventListener('abort', () => {
            modelStopped = true;
            controller.error(abortSignal.reason);
          });
        },
      }),
    });
    const events: AgentEvent[] = [];
    const stream = source(model).run(runInput({ history: [user] }), runControl({ signal: abort.signal }));
    for await (const event of stream as unknown as AsyncIterable<AgentEvent>) {
      events.push(event);
      if (event.type === 'text-delta') abort.abort({ by: 'system', message: 'shutdown' });
    }
    expect(check(canonical, events).violations).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'aborted', by: 'system', reason: 'shutdown' });
    await vi.waitFor(() => expect(modelStopped).toBe(true));
  });

  test('stops the model when the reader cancels', async () => {
    let modelStopped = false;
    const model = scriptedModel([]);
    model.doStream = async ({ abortSignal }) => {
      abortSignal?.addEventListener('abort', () => (modelStopped = true));
      return { stream: new ReadableStream({ start: (c) => c.enqueue({ type: 'text-start', id: '0' }) }) };
    };
    const reader = source(model)
      .run(runInput({ history: [user] }), runControl())
      .getReader();
    for (;;) if ((await reader.read()).value?.type === 'text-start') break;
    await reader.cancel();
    await vi.waitFor(() => expect(modelStopped).toBe(true));
  });

  test('ends the run with an error event instead of erroring the stream', async () => {
    const failing = scriptedModel([]);
    failing.doStream = async () => Promise.reject(new Error('no such model'));
    expect((await run(failing)).end).toMatchObject({ outcome: 'error', error: { message: 'no such model' } });
    const midway = scriptedModel([...text('0', 'a'), { type: 'error', error: new Error('broke') }, finish('error')]);
    expect((await run(midway)).end).toMatchObject({ outcome: 'error', error: { message: 'broke' } });
    expect((await run(scriptedModel([finish()]), {}, { history: [] })).end.outcome).toBe('error');
    const silent = scriptedModel([]);
    silent.doStream = async () => ({ stream: new ReadableStream() });
    expect((await run(silent, { idleMs: 20 })).end).toMatchObject({ outcome: 'error', error: { code: 'idle' } });
  });

  test('disables retries inside the stream, which would repeat text', async () => {
    const flaky = (): ReturnType<typeof scriptedModel> =>
      scriptedModel(
        [...text('0', 'Hel').slice(0, 2), { type: 'error', error: new Error('overloaded') }, finish('error')],
        [...text('0', 'Hello'), finish()],
      );
    const settings = { model: flaky(), prompt: 'hi', streamRetries: 2, onError: () => undefined };
    const naive = await collect(ai.streamText(settings as never).textStream);
    expect(naive.join('')).toBe(major === 7 ? 'HelHello' : 'Hel');
    const model = flaky();
    const { message, end } = await run(model, { streamRetries: 2 } as ModelSourceOptions);
    expect(message.content.parts).toMatchObject([{ type: 'text', text: 'Hel' }]);
    expect(end).toMatchObject({ outcome: 'error', error: { message: 'overloaded' } });
    expect(model.doStreamCalls).toHaveLength(1);
  });

  test('reports every model call with its prompt, tools, settings, usage and error', async () => {
    const calls: Array<ModelCall & ModelCallEnd> = [];
    const onModelCall: OnModelCall = (sent) => {
      const reported = { ...sent };
      calls.push(reported);
      return (end) => void Object.assign(reported, end);
    };
    const tools = { add: ai.tool({ inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => a + 1 }) };
    const steps = [
      [call('c1', 'add', { a: 1 }), finish('tool-calls')],
      [...text('0', 'Done'), finish()],
    ];
    const { end } = await run(scriptedModel(...steps), {
      tools,
      temperature: 0.5,
      headers: { secret: 's' },
      onModelCall,
    });
    expect(end.outcome).toBe('complete');
    expect(calls).toMatchObject([
      {
        provider: 'scripted.chat',
        model: 'scripted-1',
        prompt: [{ role: 'user' }],
        tools: [{ type: 'function', name: 'add' }],
        settings: { temperature: 0.5 },
        usage: { inputTokens: 10, outputTokens: 5, reasoningTokens: 2, cacheReadTokens: 4 },
      },
      { prompt: [{ role: 'user' }, { role: 'assistant' }, { role: 'tool' }] },
    ]);
    expect(JSON.stringify(calls)).not.toContain('secret');

    const failing = scriptedModel([]);
    failing.doStream = async () => Promise.reject(new Error('no such model'));
    await run(failing, { onModelCall });
    expect(calls.at(-1)).toMatchObject({ error: 'no such model' });
  });

  test('reads the stream to its end so that callbacks run', async () => {
    const onFinish = vi.fn<() => void>();
    await run(scriptedModel([...text('0', 'a'), finish()]), { onFinish });
    expect(onFinish).toHaveBeenCalledOnce();
  });

  test('applies toModelOutput to results of earlier runs', async () => {
    const tools = {
      look: ai.tool({
        inputSchema: z.object({}),
        execute: async () => 'pixels',
        toModelOutput: ({ output }) => ({ type: 'text', value: `summary of ${output}` }),
      }),
    };
    const earlier: CanonicalMessage = {
      ...user,
      id: 'assistant-1',
      role: 'assistant',
      content: {
        format: 2,
        parts: [
          { type: 'tool-invocation', toolCallId: 'c', toolName: 'look', state: 'result', args: {}, result: 'pixels' },
        ],
      },
    };
    const model = scriptedModel([finish()]);
    await run(model, { tools }, { history: [user, earlier, user] });
    expect(getPrompt(model)[2]).toMatchObject({
      role: 'tool',
      content: [{ output: { type: 'text', value: 'summary of pixels' } }],
    });
  });

  test('sends reasoning only to the provider that signed it', async () => {
    const earlier: CanonicalMessage = {
      ...user,
      id: 'assistant-1',
      role: 'assistant',
      content: {
        format: 2,
        parts: [
          { type: 'reasoning', reasoning: 'own', providerMetadata: { scripted: { signature: 's' } } },
          { type: 'reasoning', reasoning: 'foreign', providerMetadata: { anthropic: { signature: 's' } } },
          { type: 'text', text: 'said', providerMetadata: { anthropic: { x: 1 } } },
        ],
      },
    };
    const model = scriptedModel([finish()]);
    await run(model, {}, { history: [user, earlier, user] });
    const [, answer] = getPrompt(model);
    expect(answer).toMatchObject({
      content: [
        { type: 'reasoning', text: 'own', providerOptions: { scripted: { signature: 's' } } },
        { type: 'text', text: 'said' },
      ],
    });
    expect(JSON.stringify(answer)).not.toContain('anthropic');
  });
});

test('describes itself as a single agent', async () => {
  const source = modelSource(scriptedModel([]), { description: 'Helps.' });
  expect(source).toMatchObject({ name: 'scripted-1', pauses: 'replay' });
  expect(await source.describe!()).toEqual({
    entry: 'scripted-1',
    agents: [{ name: 'scripted-1', kind: 'agent', description: 'Helps.' }],
    edges: [],
  });
});
