import type { AgentEvent, Loss } from '@intertie/core';
import { expect, it } from 'vitest';
import { ChatEncoder, type ChatChunk } from './encode-chat.ts';

function encode(
  events: AgentEvent[],
  { isStreamed = true } = {},
): { encoder: ChatEncoder; deltas: string[]; losses: string[] } {
  const losses: string[] = [];
  const onLoss = ({ what }: Loss): void => void losses.push(what);
  const encoder = new ChatEncoder({ id: 'chatcmpl-1', model: 'helper', createdAt: 0, isStreamed, onLoss });
  const chunks: ChatChunk[] = [];
  for (const event of events) encoder.feed(event, (chunk) => chunks.push(chunk));
  const deltas = chunks.flatMap(({ choices }) => {
    const [{ delta }] = choices as unknown as [{ delta: { content?: string } }];
    return delta.content ? [delta.content] : [];
  });
  return { encoder, deltas, losses };
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

const discarded: AgentEvent[] = [
  { type: 'step-start', stepId: 'a' },
  { type: 'step-start', stepId: 'b' },
  start('1', { stepId: 'a' }),
  delta('1', 'Partial a'),
  start('2', { stepId: 'b' }),
  delta('2', 'Partial b'),
  end('2'),
  { type: 'step-end', stepId: 'b', discarded: true },
  end('1'),
  { type: 'step-end', stepId: 'a', discarded: true },
  { type: 'step-start', stepId: 'c' },
  start('3', { stepId: 'c' }),
  delta('3', 'Complete'),
  end('3'),
  { type: 'step-end', stepId: 'c' },
];

it('omits the text of a discarded step from a complete answer', () => {
  const { encoder, losses } = encode(discarded, { isStreamed: false });
  expect(encoder.completion).toMatchObject({ choices: [{ message: { content: 'Complete' } }] });
  expect(losses).toEqual([]);
});

it('drops unsent text of a discarded step from a stream, and reports sent text as a loss', () => {
  const { deltas, losses } = encode(discarded);
  expect(deltas).toEqual(['Partial a', '\n\nComplete']);
  expect(losses).toEqual(['step-end discarded']);
});
