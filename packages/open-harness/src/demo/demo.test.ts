import { canonical, check } from '@intertie/conformance';
import { foldEvents, type AgentEvent, type AgentSource, type EventOf, type RunInput } from '@intertie/core';
import { describe, expect, test } from 'vitest';
import { chatMajors } from '../../../ai-sdk/test/chats.ts';
import { finish, scriptedModel, text } from '../../../ai-sdk/test/scripted-model.ts';
import { readAll } from '../../../core/test/read-all.ts';
import { runControl } from '../../../core/test/run-control.ts';
import { runInput } from '../../test/run-input.ts';
import { OpenHarnessChatTransport } from '../chat/open-harness-chat-transport.ts';
import { openHarnessSource, type FlowRequest } from '../source/open-harness-source.ts';
import { isTerminalEvent, type RuntimeEvent } from '../runtime/runtime-event.ts';
import { demoFlow, demoRuntime } from './demo-flow.ts';
import { createFlowRuntime } from './flow-runtime.ts';
import type { Flow } from './flow.ts';

const fast = (turn: Partial<FlowRequest> = {}): ReturnType<typeof demoRuntime> => demoRuntime(turn, { pace: 0 });

async function runFlow(flow: Flow, input: Record<string, unknown> = {}): Promise<RuntimeEvent[]> {
  const events: RuntimeEvent[] = [];
  const runtime = createFlowRuntime({ flow, pace: 0 });
  runtime.onEvent((event) => void events.push(event));
  await runtime.run(input);
  return events;
}

const runSource = (source: AgentSource, message: string, fields: Partial<RunInput> = {}): Promise<AgentEvent[]> =>
  readAll(source.run(runInput(message, fields), runControl()));

test('runs the demo flow up to its question and resumes it', async () => {
  const source = openHarnessSource(fast, { flow: demoFlow });
  const first = await runSource(source, 'Tea');
  expect(check(canonical, first).violations).toEqual([]);
  const end = first.at(-1) as EventOf<'run-end'>;
  expect(end).toMatchObject({ outcome: 'paused', waitingFor: [{ type: 'message' }] });
  const content = foldEvents(first)!.content;
  expect(Object.values(content.agents ?? {}).map(({ name }) => name)).toEqual(['plan', 'archive', 'press', 'editor']);
  expect(new Set(content.parts.map(({ type }) => type))).toContain('reasoning');
  expect(content.parts.filter(({ type }) => type === 'tool-invocation')).toHaveLength(2);
  expect(JSON.stringify(content)).toContain('Shall I publish it?');

  const published = await runSource(source, 'yes, please', { runId: 'run-2', sourceState: end.resume });
  expect(check(canonical, published).violations).toEqual([]);
  expect(published.at(-1)).toMatchObject({ outcome: 'complete' });
  expect(JSON.stringify(foldEvents(published))).toContain('Published: https://example.com/column');
  const changed = await runSource(source, 'shorter', { runId: 'run-3', sourceState: end.resume });
  expect(JSON.stringify(foldEvents(changed))).toContain('I have changed the column: shorter');
  expect((await source.describe!()).edges).toHaveLength(4);
});

test.each(chatMajors)('runs the demo flow in a chat of $name', async ({ createChat }) => {
  const chat = createChat({ transport: new OpenHarnessChatTransport(fast) });
  await chat.sendMessage({ text: 'Tea' });
  await chat.sendMessage({ text: 'yes' });
  expect(chat.messages).toHaveLength(4);
  expect(JSON.stringify(chat.lastMessage)).toContain('Published');
  expect(chat.status).toBe('ready');
});

describe('createFlowRuntime', () => {
  test('evaluates edge conditions and skips unreachable nodes', async () => {
    const flow: Flow = {
      name: 'choice',
      nodes: ['a', 'b', 'c', 'd'].map((id) => ({ id, run: () => id })),
      edges: [
        { from: 'a', to: 'b', if: ({ input }) => input.b === true },
        { from: 'a', to: 'c', if: ({ outputs }) => outputs.a === 'a' },
        { from: 'b', to: 'd' },
      ],
    };
    const types = (events: RuntimeEvent[]): string[] =>
      events.map((event) => ('nodeId' in event ? `${event.type} ${event.nodeId as string}` : event.type));
    expect(types(await runFlow(flow))).toEqual([
      'flow:start',
      'node:start a',
      'node:complete a',
      'edge:fire',
      'node:skipped b',
      'node:skipped d',
      'node:start c',
      'node:complete c',
      'flow:complete',
    ]);
  });

  test('fails the flow if a node throws', async () => {
    const run = async (context: { say(text: string): Promise<void> }): Promise<never> => {
      await context.say('I try.');
      throw new Error('No luck.');
    };
    const flow: Flow = { name: 'f', nodes: [{ id: 'a', run }], edges: [] };
    const events = await runSource(
      openHarnessSource(() => createFlowRuntime({ flow, pace: 0 })),
      'hi',
    );
    expect(events.at(-1)).toMatchObject({ outcome: 'error', error: { message: 'Node "a" failed: No luck.' } });
  });

  test('pauses and stops between two words', async () => {
    for (const how of ['pause', 'stop'] as const) {
      const runtime = fast();
      const events: RuntimeEvent[] = [];
      runtime.onEvent((event) => {
        events.push(event);
        if (event.type === 'agent:text:delta') runtime[how]();
      });
      const { status } = await runtime.run({ message: 'Tea' });
      expect(status).toBe(how === 'pause' ? 'paused' : 'aborted');
      expect(events.filter(isTerminalEvent)).toHaveLength(1);
      expect(events.at(-1)!.type).toBe(how === 'pause' ? 'agent:paused' : 'agent:aborted');
      await expect(runtime.run()).rejects.toThrow('a runtime runs once');
    }
  });

  test('runs an AI SDK model as a node', async () => {
    const flow: Flow = {
      name: 'model',
      nodes: [
        {
          id: 'writer',
          model: scriptedModel([...text('0', 'Hello from', ' a model'), finish()]),
          prompt: ({ input }) => String(input.message),
        },
      ],
      edges: [],
    };
    const events = await runFlow(flow, { message: 'hi' });
    expect(events.find(({ type }) => type === 'agent:text')).toMatchObject({ content: 'Hello from a model' });
    expect(events.at(-1)).toMatchObject({ status: 'complete' });
  });
});
