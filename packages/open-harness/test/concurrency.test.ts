import { expect, test } from 'vitest';
import { allOf } from '../../core/test/all-of.ts';
import { createRequest } from './replayed-chat.ts';
import { createFlowRuntime, type Flow, type FlowRuntime } from '../src/demo.ts';
import { OpenHarnessChatTransport } from '../src/chat/open-harness-chat-transport.ts';

/** Says back what it was asked, three times and in three nodes, two of them side by side. */
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
  return JSON.stringify(await allOf(await transport.sendMessages(createRequest({ chatId, messages }))));
}

/** Whose words are in each stream, and how often it was finished. */
const contents = (texts: string[]): unknown[] =>
  texts.map((text) => [[...new Set(text.match(/chat-\d+x/g))], text.match(/"type":"finish"/g)?.length]);
const ownAlone = (count: number): unknown[] => Array.from({ length: count }, (_, index) => [[`chat-${index}x`], 1]);

test('a hundred streams over a hundred runtimes do not hear each other', async () => {
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

test('nor do twenty over one factory', async () => {
  const transport = new OpenHarnessChatTransport(() => createFlowRuntime({ flow: echo, pace: 1 }));
  const texts = await Promise.all(Array.from({ length: 20 }, (_, index) => read(transport, `chat-${index}x`)));
  expect(contents(texts)).toEqual(ownAlone(20));
});
