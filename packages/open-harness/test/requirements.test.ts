import type { UIMessageChunk } from '@intertie/ai-sdk';
import { readUIMessageStream, type ChatTransport, type UIMessage } from 'ai';
import type { ChatTransport as ChatTransport7, UIMessage as UIMessage7 } from 'ai-7';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { chatMajors } from '../../ai-sdk/test/chats.ts';
import { readAll } from '../../core/test/read-all.ts';
import { begin, finish, node } from './flow-events.ts';
import { ReplayRuntime } from './replay-runtime.ts';
import { readChunks, readMessage, createRequest } from './replayed-chat.ts';
import { ScriptRuntime } from './script-runtime.ts';
import { findTrace, traces } from './traces.ts';
import type { OpenHarnessUIMessage } from '../src/decode/data-types.ts';
import type { RuntimeEvent } from '../src/runtime/runtime-event.ts';
import { createFlowRuntime, type Flow } from '../src/demo.ts';
import {
  OpenHarnessChatTransport,
  type OpenHarnessChatTransportOptions,
} from '../src/chat/open-harness-chat-transport.ts';

// Requirements and criteria of the original adapter specification, with three corrections: the flow ends the stream instead of
// an agent, the chunk is `start-step`, and the state of a failed tool is `output-error`.

const getTypes = async (name: string, options?: OpenHarnessChatTransportOptions<6>): Promise<string[]> =>
  (await readChunks(name, options)).map(({ type }) => type).filter((type) => !type.startsWith('data-'));

describe('functional requirements', () => {
  test('1: implements ChatTransport of both majors', () => {
    expectTypeOf<OpenHarnessChatTransport>().toExtend<ChatTransport<UIMessage>>();
    expectTypeOf<OpenHarnessChatTransport>().toExtend<ChatTransport<OpenHarnessUIMessage>>();
    expectTypeOf<OpenHarnessChatTransport>().toExtend<ChatTransport7<UIMessage7>>();
  });

  test('2, 8, 11: streams text deltas between start and end with one id', async () => {
    expect(await getTypes('01')).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-delta',
      'text-delta',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ]);
    const ids = (await readChunks('01')).flatMap((chunk) =>
      chunk.type.startsWith('text-') ? [(chunk as { id: string }).id] : [],
    );
    expect(new Set(ids.map((id) => id.split(':').at(-1)))).toEqual(new Set(['0']));
  });

  test('3, 12: streams thinking between start and end, before the text', async () => {
    expect((await getTypes('02')).slice(2, 8)).toEqual([
      'reasoning-start',
      'reasoning-delta',
      'reasoning-delta',
      'reasoning-end',
      'text-start',
      'text-delta',
    ]);
  });

  test('4: sends the input of a tool, then its output', async () => {
    const types = (await getTypes('03')).filter((type) => type.startsWith('tool-'));
    expect(types.slice(0, 2)).toEqual(['tool-input-available', 'tool-output-available']);
  });

  test('5: sends a step for every started node', async () => {
    expect((await getTypes('06')).filter((type) => type === 'start-step')).toHaveLength(2);
  });

  test.each(chatMajors)(
    '6, 10, 17: adds one message with its own id to a plain chat ($name)',
    async ({ createChat }) => {
      const chat = createChat({ transport: new OpenHarnessChatTransport(() => new ReplayRuntime(findTrace('06'))) });
      await chat.sendMessage({ text: 'one' });
      await chat.sendMessage({ text: 'two' });
      expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
      expect(new Set(chat.messages.map(({ id }) => id)).size).toBe(4);
    },
  );

  test('7, 16: starts a flow with the last message or sends it to a running one', async () => {
    const idle = new ReplayRuntime(findTrace('01'));
    await readAll(await new OpenHarnessChatTransport(idle).sendMessages(createRequest()));
    expect(idle.inputs).toMatchObject([{ message: 'hello' }]);
    const running = new ScriptRuntime();
    running.status = 'running';
    const sent = readAll(await new OpenHarnessChatTransport(running).sendMessages(createRequest()));
    await expect.poll(() => running.listeners.size).toBe(1);
    running.emit(...begin, ...finish);
    await sent;
    expect(running.commands).toEqual([{ type: 'send', message: 'hello', runId: 'n1' }]);
  });

  test('9: stops on abort', async () => {
    const stop = new AbortController();
    const runtime = new ScriptRuntime(async (own) => {
      own.emit(...begin);
      await own.stopped();
      return 'aborted';
    });
    const sent = readAll(
      await new OpenHarnessChatTransport(runtime).sendMessages(createRequest({ abortSignal: stop.signal })),
    );
    await expect.poll(() => runtime.status).toBe('running');
    stop.abort();
    expect((await sent).at(-1)).toMatchObject({ type: 'abort' });
    expect(runtime.listeners.size).toBe(0);
  });

  test('13: sends one readable error chunk for a fatal error', async () => {
    expect((await readChunks('11')).filter(({ type }) => type === 'error')).toEqual([
      { type: 'error', errorText: 'Node "assistant" failed: Reached max turns' },
    ]);
  });

  test('14: completes the stream when the flow completes or pauses', async () => {
    for (const name of ['06', '17']) expect((await getTypes(name)).at(-1)).toBe('finish');
  });

  test('15, 20: makes data parts, reasoning and steps optional', async () => {
    const { parts } = await readMessage('02', { sendFlowMetadata: true, sendNodeOutputs: true });
    const types = parts.map(({ type }) => type);
    expect(types).toContain('data-flow-status');
    expect(types).toContain('data-node-output');
    const bare = await readMessage('02', { sendReasoning: false, sendStepMarkers: false });
    expect(bare.parts.map(({ type }) => type)).toEqual(['data-agent', 'text']);
  });

  test('18: keeps the order of the events', async () => {
    const { parts } = await readMessage('03');
    expect(parts.map(({ type }) => type).filter((type) => type !== 'data-agent')).toEqual([
      'step-start',
      'text',
      'dynamic-tool',
      'dynamic-tool',
      'dynamic-tool',
      'reasoning',
      'text',
    ]);
  });

  describe('5: step markers besides those of the nodes, as the README lists them', () => {
    const other = { nodeId: 'b', runId: 'n2' };
    const textDelta = (content: string, ids: { nodeId: string; runId: string } = node): RuntimeEvent => ({
      type: 'agent:text',
      ...ids,
      content,
    });
    const tool: RuntimeEvent = { type: 'agent:tool', ...node, toolName: 'x', toolInput: 1, toolOutput: 2 };
    const open: RuntimeEvent = { type: 'agent:text:delta', ...node, content: 'one' };
    const sub = { nodeId: 'a.left', runId: 'n1:left' };

    test.each<[string, RuntimeEvent[], string[]]>([
      ['adds none for only tools', [textDelta('one'), tool, tool], ['step', 'one', 'x', 'x']],
      [
        'adds none for text after a tool result',
        [textDelta('one'), tool, textDelta('two')],
        ['step', 'one', 'x', 'two'],
      ],
      [
        'adds one for a second agent:start of the node',
        [{ type: 'agent:start', ...node }, textDelta('one'), { type: 'agent:start', ...node }, textDelta('two')],
        ['step', 'one', 'step', 'two'],
      ],
      [
        'adds one for a sub-agent and one for its node after it',
        [textDelta('one'), textDelta('two', sub), textDelta('three')],
        ['step', 'one', 'step', 'two', 'step', 'three'],
      ],
      [
        'adds none for a silent node while text of another is open',
        [open, { type: 'node:start', ...other }, textDelta('one')],
        ['step', 'one'],
      ],
      [
        'adds one for a node that emits text after the open text of another',
        [open, { type: 'node:start', ...other }, textDelta('one'), textDelta('two', other)],
        ['step', 'one', 'step', 'two'],
      ],
    ])('%s', async (_, events, expected) => {
      const runtime = new ScriptRuntime(async (own) => {
        own.emit(...begin, ...events, finish[1]!);
        return 'complete';
      });
      const stream = await new OpenHarnessChatTransport(runtime).sendMessages(createRequest());
      let message: UIMessage | undefined;
      for await (const state of readUIMessageStream({ stream })) message = state;
      const shown = message!.parts.flatMap((part) => {
        if (part.type === 'step-start') return ['step'];
        if (part.type === 'dynamic-tool') return [part.toolName];
        return part.type === 'text' ? [part.text] : [];
      });
      expect(shown).toEqual(expected);
    });
  });

  test('5: sends one step per node invocation with sendStepMarkers "nodes"', async () => {
    const steps = async (name: string): Promise<number> =>
      (await getTypes(name, { sendStepMarkers: 'nodes' })).filter((type) => type === 'start-step').length;
    for (const { name, events } of traces) {
      const nodes = events.filter(({ type }) => type === 'node:start');
      expect([name, await steps(name)]).toEqual([name, nodes.length]);
    }
  });

  test('5: delays steps of "nodes" until the open text of another node ends', async () => {
    const other = { nodeId: 'b', runId: 'n2' };
    const runtime = new ScriptRuntime(async (own) => {
      own.emit(...begin, { type: 'agent:text:delta', ...node, content: 'one' });
      own.emit({ type: 'node:start', ...other }, { type: 'agent:text', ...node, content: 'one' });
      own.emit({ type: 'agent:text', ...other, content: 'two' }, { type: 'node:complete', ...other, output: null });
      own.emit(...finish);
      return 'complete';
    });
    const transport = new OpenHarnessChatTransport(runtime, { sendStepMarkers: 'nodes' });
    const types = (await readAll(await transport.sendMessages(createRequest()))).map(({ type }) => type);
    expect(types.filter((type) => !type.startsWith('data-') && !type.endsWith('-delta'))).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-end',
      'finish-step',
      'start-step',
      'text-start',
      'text-end',
      'finish-step',
      'finish',
    ]);
  });

  test('19: reports a tool without output as an error', async () => {
    const runtime = new ScriptRuntime(async (own) => {
      own.emit(...begin, { type: 'agent:tool', ...node, toolName: 'x', toolInput: {} }, ...finish);
      return 'complete';
    });
    const chunks = await readAll(await new OpenHarnessChatTransport(runtime).sendMessages(createRequest()));
    const errorText = 'The tool "x" returned no output before its node ended.';
    expect(chunks).toContainEqual(expect.objectContaining({ type: 'tool-output-error', errorText }));
  });
});

describe('success criteria', () => {
  test('1, 8: needs three lines in a page', async () => {
    const transport = new OpenHarnessChatTransport(() => new ReplayRuntime(findTrace('01')));
    const chat = chatMajors[0]!.createChat({ transport });
    await chat.sendMessage({ text: 'hello' });
    expect(chat.lastMessage?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Hello, world!' });
  });

  test.each(['text', 'thinking'] as const)('2, 9: delivers %s before the next runtime event', async (kind) => {
    const runtime = new ScriptRuntime(async (own) => {
      own.emit(...begin, { type: `agent:${kind}:delta`, ...node, content: 'now' });
      await own.stopped();
      return 'aborted';
    });
    const reader = (await new OpenHarnessChatTransport(runtime).sendMessages(createRequest())).getReader();
    let chunk: UIMessageChunk | undefined;
    while (!chunk?.type.endsWith('-delta')) chunk = (await reader.read()).value;
    expect(chunk).toMatchObject({ delta: 'now' });
    await reader.cancel();
  });

  test('3, 5: streams fifteen tool calls with input and output', async () => {
    const uses = Array.from({ length: 15 }, (_, n) => n);
    const flow: Flow = {
      name: 'tools',
      nodes: [
        {
          id: 'a',
          run: async ({ tool }) => {
            for (const n of uses) await tool('double', { n }, () => n * 2);
          },
        },
      ],
      edges: [],
    };
    const runtime = createFlowRuntime({ flow, pace: 0 });
    const stream = await new OpenHarnessChatTransport(runtime).sendMessages(createRequest());
    let message: UIMessage | undefined;
    for await (const state of readUIMessageStream({ stream })) message = state;
    const tools = message!.parts.filter((part) => part.type === 'dynamic-tool');
    expect(tools.map(({ input, output }) => [input, output])).toEqual(uses.map((n) => [{ n }, n * 2]));
    expect(runtime.listenerCount).toBe(0);
  });

  test('4: separates nodes by steps', async () => {
    const types = (await readMessage('06')).parts.map(({ type }) => type).filter((type) => type !== 'data-agent');
    expect(types).toEqual(['step-start', 'text', 'step-start', 'text']);
  });

  test('6: formats every error', async () => {
    const chunks = (await Promise.all(traces.map(({ name }) => readChunks(name)))).flat();
    const errors = chunks.flatMap((chunk) => (chunk.type === 'error' ? [chunk.errorText] : []));
    expect(errors).toHaveLength(6);
    expect(errors.filter((text) => /[{[]"|\bat .*:\d+:\d+|undefined/.test(text))).toEqual([]);
  });

  test('7: sends only parts that unmodified components support', async () => {
    const known = /^(text|reasoning|step-start|dynamic-tool|tool-.+|data-.+)$/;
    for (const { name } of traces) {
      for (const { type } of (await readMessage(name)).parts) expect(type).toMatch(known);
    }
  });

  // 10, a hundred concurrent streams, is tested in concurrency.test.ts.
});
