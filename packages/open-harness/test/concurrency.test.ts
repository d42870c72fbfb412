import { expect, test } from 'vitest';
import { readAll } from '../../core/test/read-all.ts';
import { createRequest } from './replayed-chat.ts';
import { createFlowRuntime, type Flow, type FlowRuntime } from '../src/demo.ts';
import { OpenHarnessChatTransport } from '../src/chat/open-harness-chat-transport.ts';

/** Flow that repeats its input in three nodes, two of them parallel. */
const echo: Flow = {
  name: 'echo',
  nodes: ['a', 'b', 'c'].map((id) => ({
    id,
    run: async (context) => {
      await context.think(`${String(context.input.message)} thinks`);
      await context.tool('mark', { of: context.input.message }, () => context.input.message);
      await context.say(`${String(context.input.message)} says`);
    },
  })),
  edges: [
    { from: 'a', to: 'b' },
    { from: 'a', to: 'c' },
  ],
};

async function read(transport: OpenHarnessChatTransport, chatId: string): Promise<string> {
  const messages = [{ id: `${chatId}-u`, role: 'user', parts: [{ type: 'text', text: chatId }] }];
  return JSON.stringify(await readAll(await transport.sendMessages(createRequest({ chatId, messages }))));
}

/** Returns the chat ids found in each stream and its number of finish chunks. */
const contents = (texts: string[]): unknown[] =>
  texts.map((text) => [[...new Set(text.match(/chat-\d+x/g))], text.match(/"type":"finish"/g)?.length]);
const ownAlone = (count: number): unknown[] => Array.from({ length: count }, (_, index) => [[`chat-${index}x`], 1]);

test('isolates a hundred streams over a hundred runtimes', async () => {
  const runtimes: FlowRuntime[] = [];
  const texts = await Promise.all(
    Array.from({ length: 100 }, (_, index) => {
      const runtime = createFlowRuntime({ flow: echo, pace: index % 3 });
      runtimes.push(runtime);
      return read(new OpenHarnessChatTransport(runtime), `chat-${index}x`);
    }),
  );
  expect(contents(texts)).toEqual(ownAlone(100));
  expect(runtimes.map(({ listenerCount }) => listenerCount)).toEqual(runtimes.map(() => 0));
});

test('isolates twenty streams over one factory', async () => {
  const transport = new OpenHarnessChatTransport(() => createFlowRuntime({ flow: echo, pace: 1 }));
  const texts = await Promise.all(Array.from({ length: 20 }, (_, index) => read(transport, `chat-${index}x`)));
  expect(contents(texts)).toEqual(ownAlone(20));
});
