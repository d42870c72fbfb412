import { createChatHandler } from '@intertie/ai-sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chatMajors } from '../../ai-sdk/test/chats.ts';
import { serve } from '../../ai-sdk/test/serve.ts';
import { demoFlow, createFlowRuntime } from '../src/demo.ts';
import { OpenHarnessChatTransport, openHarnessSource } from '../src/index.ts';

// Programs of the documentation.
const createRuntime = ({ flow }: { flow: typeof demoFlow; registry: unknown }): ReturnType<typeof createFlowRuntime> =>
  createFlowRuntime({ flow, pace: 0 });
const flow = demoFlow;
const registry = undefined;

describe.each(chatMajors)('$name', ({ ai, createChat }) => {
  const closing: Array<() => Promise<void>> = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  test('streams a flow from a route', async () => {
    const POST = createChatHandler(openHarnessSource(() => createRuntime({ flow, registry })));

    const { url, close } = await serve(POST);
    closing.push(close);
    const chat = createChat({ transport: new ai.DefaultChatTransport({ api: url }) });
    await chat.sendMessage({ text: 'Tea' });
    expect(chat.status).toBe('ready');
    expect(JSON.stringify(chat.lastMessage)).toContain('Shall I publish it?');
  });

  test('streams a flow in the same process', async () => {
    const useChat = createChat;

    const chat = useChat({
      transport: new OpenHarnessChatTransport(() => createRuntime({ flow, registry }), {
        sendReasoning: true,
        sendStepMarkers: true,
        sendFlowMetadata: true,
        sendNodeOutputs: true,
      }),
    });
    await chat.sendMessage({ text: 'Tea' });
    const types = chat.lastMessage!.parts.map(({ type }) => type);
    for (const type of ['reasoning', 'step-start', 'data-flow-status', 'data-node-output', 'dynamic-tool', 'text']) {
      expect(types).toContain(type);
    }
  });
});

test('keeps the README’s program within ten lines', () => {
  const page = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const program = /^```ts\n(.*?)^```$/ms.exec(page)![1]!;
  expect(program.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(10);
});
