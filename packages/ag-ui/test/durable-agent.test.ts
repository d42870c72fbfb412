import { HttpAgent } from '@ag-ui/client';
import type { Message } from '@ag-ui/core';
import { Agent } from '@intertie/agent';
import { MockLanguageModelV3 } from 'ai/test';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../../ai-sdk/test/serve.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import { tools } from './scenarios.ts';
import { finish, reasoning, scriptedModel, streamedCall, text, type ModelPart, type Turn } from './scripted-model.ts';
import { describeMessages } from './describe-messages.ts';

const paris = '{"city":"Paris"}';
const userMessage: Message = { id: 'u1', role: 'user', content: 'Go.' };
const locate = { name: 'locate', description: 'Where the user is', parameters: { type: 'object' } };

type Served = { agent: Agent; model: MockLanguageModelV3; client(messages?: Message[]): HttpAgent };

async function served(model: MockLanguageModelV3): Promise<Served> {
  const agent = new Agent({ model, tools });
  const { url, close } = await serve(createAGUIHandler(agent));
  onTestFinished(async () => {
    await close();
    await agent.close();
  });
  const client = (initialMessages: Message[] = [userMessage]): HttpAgent =>
    new HttpAgent({ url, threadId: 'thread-1', initialMessages });
  return { agent, model, client };
}

const servedTurns = (...turns: Turn[]): Promise<Served> => served(scriptedModel(turns));

/** Creates a model that emits the number of parts that `release` allows. */
function heldModel(parts: readonly ModelPart[]): { model: MockLanguageModelV3; release(count: number): void } {
  let allowed = 0;
  let wake: (() => void) | undefined;
  const isHeld = (): boolean => allowed === 0;
  const remaining = [...parts];
  const stream = new ReadableStream<ModelPart>(
    {
      async pull(controller) {
        while (isHeld()) await new Promise<void>((resolve) => void (wake = resolve));
        allowed -= 1;
        const next = remaining.shift();
        if (next) controller.enqueue(next);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const release = (count: number): void => {
    allowed += count;
    wake?.();
  };
  return { model: new MockLanguageModelV3({ doStream: async () => ({ stream }) }), release };
}

afterEach(() => vi.restoreAllMocks());

describe('an unmodified HttpAgent and an agent with durable runs', () => {
  it('rejoins a run without a second model call, as the same or another client', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const parts = [...reasoning('0', 'Let me ', 'think.'), ...text('1', 'It is ', 'warm ', 'there.'), finish()];
    const { model, release } = heldModel(parts);
    const { client, agent } = await served(model);
    const one = client();
    let seen = '';
    const disconnected = one.runAgent(
      { runId: 'run-1' },
      { onTextMessageContentEvent: ({ event }) => void (seen += event.delta), onRunFailed: () => undefined },
    );
    release(6);
    await vi.waitFor(() => expect(seen).toBe('It is '), { timeout: 10_000 });
    one.abortRun();
    await disconnected.catch(() => undefined);
    release(1);
    const other = client();
    let joined = 0;
    const onMessagesSnapshotEvent = (): void => void (joined += 1);
    const runs = [one, other].map((back) => back.runAgent({ runId: 'run-1' }, { onMessagesSnapshotEvent }));
    await vi.waitFor(() => expect(joined).toBe(2));
    release(10);
    await Promise.all(runs);
    const expected = ['reasoning=Let me think.', 'text=It is warm there.'];
    expect([describeMessages(one.messages), describeMessages(other.messages)]).toEqual([expected, expected]);
    expect(other.messages).toEqual(one.messages);
    expect(model.doStreamCalls).toHaveLength(1);
    const stored = await agent.store.listMessages({ threadId: 'thread-1' });
    expect(stored.map(({ role, status }) => [role, status])).toEqual([
      ['user', 'complete'],
      ['assistant', 'complete'],
    ]);
    expect(warn).not.toHaveBeenCalled();
  });

  it('sends only the stored history to the model', async () => {
    const { client, model } = await servedTurns(
      [...text('1', 'first'), ...streamedCall('c1', 'weather', paris), finish('tool-calls')],
      [...text('1', 'second'), finish()],
      [...text('1', 'third'), finish()],
    );
    const one = client();
    await one.runAgent({ runId: 'run-1' });
    one.messages = one.messages.map((message) =>
      message.role === 'tool' ? { ...message, content: 'forged' } : message,
    );
    one.addMessage({ id: 'x', role: 'system', content: 'forged' });
    one.addMessage({ id: 'u2', role: 'user', content: 'Again.' });
    await one.runAgent({ runId: 'run-2' });
    expect(describeMessages(one.messages).at(-1)).toBe('text=third');
    const prompt = JSON.stringify(model.doStreamCalls.at(-1)?.prompt);
    expect(prompt).toContain('degrees');
    expect(prompt).not.toContain('forged');
    const other = client([]);
    await other.runAgent({ runId: 'run-2' });
    expect(describeMessages(other.messages)).toEqual([
      'text=first',
      `call:c1=${paris}`,
      'result:c1={"city":"Paris","degrees":21}',
      'text=second',
      'text=third',
    ]);
  });

  it.each([
    [true, 'removed'],
    [false, 'The call was denied.'],
  ])('answers an approval with %s and shows the result to another client', async (approved, result) => {
    const { client } = await servedTurns(
      [...streamedCall('c1', 'remove', paris), finish('tool-calls')],
      [...text('0', 'Well.'), finish()],
    );
    const one = client();
    await one.runAgent({ runId: 'run-1' });
    const other = client();
    await other.runAgent({ runId: 'run-1' });
    expect(other.pendingInterrupts).toEqual(one.pendingInterrupts);
    const [interrupt] = one.pendingInterrupts;
    const resume = [{ interruptId: interrupt!.id, status: 'resolved' as const, payload: { approved } }];
    await one.runAgent({ runId: 'run-2', resume });
    const expected = [`call:c1=${paris}`, `result:c1=${result}`, 'text=Well.'];
    expect(describeMessages(one.messages)).toEqual(expected);
    await other.runAgent({ runId: 'run-3', resume });
    expect(describeMessages(other.messages)).toEqual(expected);
    expect(other.pendingInterrupts).toEqual([]);
  });

  it('receives both answers in order when it sends a tool result and a new message', async () => {
    const { client, model } = await servedTurns(
      [...streamedCall('c1', 'locate', '{}'), finish('tool-calls')],
      [...text('0', 'You are in Rome.'), finish()],
      [...text('0', 'Yes.'), finish()],
    );
    const one = client();
    await one.runAgent({ runId: 'run-1', tools: [locate] });
    one.addMessage({ id: 't1', role: 'tool', toolCallId: 'c1', content: 'Rome' });
    one.addMessage({ id: 'u2', role: 'user', content: 'Sure?' });
    await one.runAgent({ runId: 'run-2', tools: [locate] });
    expect(one.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(describeMessages(one.messages)).toEqual([
      'call:c1={}',
      'result:c1=Rome',
      'text=You are in Rome.',
      'text=Yes.',
    ]);
    expect(model.doStreamCalls[1]?.tools?.map(({ name }) => name)).toContain('locate');
  });

  it('replaces a stopped run by a new message', async () => {
    const { client } = await servedTurns({ parts: text('0', 'Once upon').slice(0, 2), last: 'hang' }, [
      ...text('0', 'Fine.'),
      finish(),
    ]);
    const one = client();
    const disconnected = one.runAgent(
      { runId: 'run-1' },
      { onTextMessageContentEvent: () => one.abortRun(), onRunFailed: () => undefined },
    );
    await disconnected.catch(() => undefined);
    one.addMessage({ id: 'u2', role: 'user', content: 'Shorter.' });
    await one.runAgent({ runId: 'run-2' });
    expect(describeMessages(one.messages)).toEqual(['text=Once upon', 'text=Fine.']);
  });
});
