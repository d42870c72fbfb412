import type { AgentEvent } from '@intertie/core';
import { expect, it } from 'vitest';
import { ChatEncoder, type ChatChunk } from './encode-chat.ts';

function encode(events: AgentEvent[]): { encoder: ChatEncoder; deltas: string[] } {
  const encoder = new ChatEncoder({ id: 'chatcmpl-1', model: 'helper', createdAt: 0 });
  const chunks: ChatChunk[] = [];
  for (const event of events) encoder.feed(event, (chunk) => chunks.push(chunk));
  const deltas = chunks.flatMap(({ choices }) => {
    const [{ delta }] = choices as unknown as [{ delta: { content?: string } }];
    return delta.content ? [delta.content] : [];
  });
  return { encoder, deltas };
}

const start = (id: string, more: object = {}): AgentEvent => ({ type: 'text-start', id, ...more });
const delta = (id: string, text: string): AgentEvent => ({ type: 'text-delta', id, delta: text });
const end = (id: string): AgentEvent => ({ type: 'text-end', id });

it('does not mix the texts of agents that write at the same time', () => {
  const { encoder, deltas } = encode([
    start('1'),
    delta('1', 'One '),
    start('2'),
    delta('2', 'Two '),
    delta('1', 'and '),
    delta('2', 'done.'),
    end('2'),
    start('3'),
    delta('3', 'Three.'),
    delta('1', 'more.'),
    end('1'),
    end('3'),
    { type: 'run-end', outcome: 'complete' },
  ]);
  expect(deltas).toEqual(['One ', 'and ', 'more.', '\n\nTwo done.', '\n\nThree.']);
  expect(encoder.completion).toMatchObject({
    choices: [{ message: { content: 'One and more.\n\nTwo done.\n\nThree.' }, finish_reason: 'stop' }],
  });
});

it('sends text that was not ended before the run ends', () => {
  const { deltas } = encode([
    start('1'),
    delta('1', 'One'),
    start('2'),
    delta('2', 'Two'),
    { type: 'run-end', outcome: 'aborted' },
  ]);
  expect(deltas).toEqual(['One', '\n\nTwo']);
});

it('never sends text between agents', () => {
  const { deltas } = encode([
    start('1', { internal: true }),
    delta('1', 'secret'),
    start('2'),
    delta('2', 'answer'),
    end('1'),
    end('2'),
    { type: 'run-end', outcome: 'complete' },
  ]);
  expect(deltas).toEqual(['answer']);
});
