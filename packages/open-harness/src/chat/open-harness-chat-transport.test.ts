import { createUIMessageStreamProtocol, type UIMessageChunk } from '@intertie/ai-sdk';
import { check } from '@intertie/conformance';
import type { Loss } from '@intertie/core';
import { describe, expect, test } from 'vitest';
import { chatMajors, shown } from '../../../ai-sdk/test/chats.ts';
import { readAll } from '../../../core/test/read-all.ts';
import { ReplayRuntime } from '../../test/replay-runtime.ts';
import { readChunks, createRequest } from '../../test/replayed-chat.ts';
import { ScriptRuntime } from '../../test/script-runtime.ts';
import { findTrace, traces } from '../../test/traces.ts';
import { OpenHarnessChatTransport, type OpenHarnessChatTransportOptions } from './open-harness-chat-transport.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';

/** Options that send everything, with stable ids. */
const everything = (): OpenHarnessChatTransportOptions<6> => {
  let count = 0;
  return {
    sendFlowMetadata: true,
    sendNodeOutputs: true,
    generateMessageId: () => 'message',
    generateId: () => `id-${(count += 1)}`,
    now: () => 0,
  };
};

const getTypes = (chunks: UIMessageChunk[]): string[] => chunks.map(({ type }) => type);

describe.each(traces)('trace $name', (trace) => {
  describe.each(['timed', 'immediate'] as const)('%s', (timing) => {
    test('produces a valid stream and removes its listener', async () => {
      const runtime = new ReplayRuntime(trace, timing);
      const transport = new OpenHarnessChatTransport(() => runtime, everything());
      const chunks = await readAll(await transport.sendMessages(createRequest()));
      expect(check(createUIMessageStreamProtocol({ version: 6 }), chunks).violations).toEqual([]);
      expect(runtime.listeners.size).toBe(0);
    });

    test.each(chatMajors)(
      'shows the same message in readUIMessageStream and the chat of $name',
      async ({ ai, createChat, createHookChat }) => {
        const transport = new OpenHarnessChatTransport(() => new ReplayRuntime(trace, timing), everything());
        const stream = await transport.sendMessages(createRequest());
        let message: Parameters<typeof shown>[0];
        for await (const state of ai.readUIMessageStream({ stream, onError: () => undefined })) message = state;
        const snapshot = `${JSON.stringify({ id: message?.id, parts: shown(message) }, null, 1)}\n`;
        await expect(snapshot).toMatchFileSnapshot(`../../fixtures/shown/${trace.name}.json`);
        for (const create of [createChat, createHookChat]) {
          const again = new OpenHarnessChatTransport(() => new ReplayRuntime(trace, timing), everything());
          const chat = create({ transport: again, onError: () => undefined });
          await chat.sendMessage({ text: 'hello' });
          expect(shown(chat.lastMessage)).toEqual(shown(message));
          expect(chat.status).toBe(chat.error ? 'error' : 'ready');
        }
      },
    );
  });
});

describe('transport options', () => {
  test('sends reasoning and steps but no flow data by default', async () => {
    const chunks = await readChunks('02');
    expect(getTypes(chunks)).toContain('reasoning-start');
    expect(getTypes(chunks)).toContain('start-step');
    expect(getTypes(chunks).filter((type) => type === 'data-flow-status' || type === 'data-node-output')).toEqual([]);
    expect(JSON.stringify(chunks)).not.toContain('permissionDenials');
  });

  test('omits reasoning with sendReasoning: false', async () => {
    expect(getTypes(await readChunks('02', { sendReasoning: false })).join()).not.toContain('reasoning');
  });

  test('omits steps with sendStepMarkers: false', async () => {
    const chunks = await readChunks('06', { sendStepMarkers: false });
    expect(getTypes(chunks).join()).not.toContain('-step');
    expect(check(createUIMessageStreamProtocol({ version: 6 }), chunks).violations).toEqual([]);
  });

  test('updates one status part with sendFlowMetadata', async () => {
    const statuses = async (name: string): Promise<unknown[]> =>
      (await readChunks(name, { sendFlowMetadata: true })).flatMap((chunk) =>
        chunk.type === 'data-flow-status' ? [[chunk.id, (chunk as { data: unknown }).data]] : [],
      );
    const [[id, first], [same, last]] = (await statuses('10')) as [[string, unknown], [string, unknown]];
    expect(first).toEqual({ status: 'running', flowName: 'chat-flow' });
    expect(last).toEqual({ status: 'failed', flowName: 'chat-flow' });
    expect(same).toBe(id);
    expect((await statuses('17')).at(-1)).toMatchObject([expect.any(String), { status: 'paused' }]);
    expect((await statuses('19')).at(-1)).toMatchObject([expect.any(String), { status: 'aborted' }]);
  });

  test('sends one output part per node with sendNodeOutputs', async () => {
    const chunks = (await readChunks('24', { sendNodeOutputs: true })).filter(
      ({ type }) => type === 'data-node-output',
    );
    expect(chunks).toHaveLength(4);
    expect(new Set(chunks.map((chunk) => (chunk as { id?: string }).id)).size).toBe(2);
    expect(chunks[3]).toMatchObject({ data: { nodeId: 'b', output: { again: false } } });
  });

  test('sends static tool parts for the names in tools', async () => {
    const chunks = (await readChunks('03', { tools: ['Read'] })).filter(({ type }) => type === 'tool-input-available');
    expect(chunks.map((chunk) => (chunk as { dynamic?: boolean }).dynamic ?? false)).toEqual([false, false, true]);
  });

  test('uses generateMessageId for the message id', async () => {
    expect((await readChunks('01', { generateMessageId: () => 'mine' }))[0]).toMatchObject({
      type: 'start',
      messageId: 'mine',
    });
  });

  test('sends the outputs of flows without agents as text with nodeText', async () => {
    const text = (chunks: UIMessageChunk[]): string =>
      chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');
    expect(text(await readChunks('28'))).toBe('');
    expect(text(await readChunks('28', { nodeText: true }))).toBe('answer 42');
  });

  test('sends a step for every node, even without content', async () => {
    expect(getTypes(await readChunks('24')).filter((type) => type === 'start-step')).toHaveLength(4);
    expect(getTypes(await readChunks('06')).filter((type) => type === 'start-step')).toHaveLength(2);
  });
});

const node = { nodeId: 'a', runId: 'n1' };
const begin: RuntimeEvent[] = [
  { type: 'flow:start', flowName: 'flow' },
  { type: 'node:start', ...node },
  { type: 'agent:text:delta', ...node, content: 'Hel' },
];
const finish: RuntimeEvent[] = [
  { type: 'agent:text', ...node, content: 'Hello' },
  { type: 'node:complete', ...node, output: null },
  { type: 'flow:complete', flowName: 'flow', status: 'complete' },
];

/** Creates a runtime that emits the first half, and the second half after `release`. */
function halting(): { runtime: ScriptRuntime; release(): void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => void (release = resolve));
  const runtime = new ScriptRuntime(async (own) => {
    own.emit(...begin);
    await Promise.race([released, own.stopped()]);
    if (own.commands.length > 0) return 'aborted';
    own.emit(...finish);
    return 'complete';
  });
  return { runtime, release };
}

describe('reconnecting', () => {
  test('replays the buffered message and follows it while it is streamed', async () => {
    const { runtime, release } = halting();
    const transport = new OpenHarnessChatTransport(runtime);
    const first = readAll(await transport.sendMessages(createRequest()));
    const second = readAll((await transport.reconnectToStream({ chatId: 'thread' }))!);
    expect(await transport.reconnectToStream({ chatId: 'another' })).toBeNull();
    await expect.poll(() => runtime.status).toBe('running');
    release();
    expect(await second).toEqual(await first);
    expect(await transport.reconnectToStream({ chatId: 'thread' })).toBeNull();
    expect(runtime.listeners.size).toBe(0);
  });

  test('replays a run that continued without readers', async () => {
    const { runtime, release } = halting();
    const transport = new OpenHarnessChatTransport(runtime, { onDisconnect: 'continue' });
    const reader = (await transport.sendMessages(createRequest())).getReader();
    await reader.read();
    await reader.cancel();
    await expect.poll(() => runtime.status).toBe('running');
    const back = readAll((await transport.reconnectToStream({ chatId: 'thread' }))!);
    release();
    expect(getTypes(await back).at(-1)).toBe('finish');
    expect(runtime.commands).toEqual([]);
  });

  test('reads a growing run from the runtime’s store in another process', async () => {
    const { events, snapshot } = findTrace('34');
    let known = 5;
    const transport = new OpenHarnessChatTransport(() => Promise.reject(new Error('not needed')), {
      runStore: {
        loadEvents: (_runId, after = 0) => {
          const loaded = events.slice(after, known);
          known = events.length;
          return loaded;
        },
        loadSnapshot: () => (known === events.length ? snapshot! : null),
      },
      flowRunId: (chatId) => (chatId === 'thread' ? snapshot!.runId : undefined),
    });
    const chunks = await readAll((await transport.reconnectToStream({ chatId: 'thread' }))!);
    expect(check(createUIMessageStreamProtocol({ version: 6 }), chunks).violations).toEqual([]);
    expect(chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('')).toBe('Hello, world!');
    expect(getTypes(chunks).at(-1)).toBe('finish');
    expect(await transport.reconnectToStream({ chatId: 'another' })).toBeNull();
  });
});

test.each(chatMajors)('stops the runtime and keeps the streamed text on stop() in $name', async ({ createChat }) => {
  const { runtime } = halting();
  const losses: Loss[] = [];
  const chat = createChat({
    transport: new OpenHarnessChatTransport(runtime, { onLoss: (loss) => void losses.push(loss) }),
  });
  const sent = chat.sendMessage({ text: 'hello' });
  await expect.poll(() => JSON.stringify(chat.lastMessage)).toContain('Hel');
  await chat.stop();
  await sent;
  await expect.poll(() => runtime.commands).toMatchObject([{ type: 'abort' }]);
  await expect.poll(() => runtime.listeners.size).toBe(0);
  expect(chat.status).toBe('ready');
  expect(JSON.stringify(chat.lastMessage)).toContain('Hel');
});

test.each(chatMajors)('resumes a paused flow with the next message in $name', async ({ createChat }) => {
  const runtime = new ScriptRuntime(
    async (own) => {
      own.emit(...begin, { type: 'flow:paused' }, { type: 'agent:paused', ...node });
      return 'paused';
    },
    async (own) => {
      own.emit({ type: 'node:start', nodeId: 'a', runId: 'n2' });
      own.emit({ type: 'agent:text', nodeId: 'a', runId: 'n2', content: 'Going on.' });
      own.emit({ type: 'node:complete', nodeId: 'a', runId: 'n2', output: null }, finish[2]!);
      return 'complete';
    },
  );
  const chat = createChat({ transport: new OpenHarnessChatTransport(runtime) });
  await chat.sendMessage({ text: 'begin' });
  expect(chat.status).toBe('ready');
  await chat.sendMessage({ text: 'go on' });
  expect(runtime.commands).toEqual([{ type: 'resume', message: 'go on' }]);
  expect(JSON.stringify(chat.lastMessage)).toContain('Going on.');
  await chat.sendMessage({ text: 'and again' });
  expect(chat.error?.message).toContain('a runtime runs once');
});
