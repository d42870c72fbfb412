import { expect, it } from 'vitest';
import { applyAnswer } from './apply-answer.ts';
import { foldEvents } from './message-list.ts';
import type { CanonicalMessage } from '../event/message.ts';
import { unfold, unfoldContent } from './unfold.ts';

const imported: CanonicalMessage = {
  id: 'm',
  threadId: 't',
  role: 'assistant',
  type: 'text',
  createdAt: new Date(5),
  content: { format: 2, parts: [{ type: 'text', text: 'from elsewhere' }], content: 'from elsewhere' },
};

it('unfolds an imported message without ids or a run into a complete run', () => {
  const events = unfold(imported);
  expect(events.map(({ type }) => type)).toEqual([
    'run-start',
    'message-snapshot',
    'text-start',
    'text-delta',
    'text-end',
    'run-end',
  ]);
  expect(foldEvents(events)).toMatchObject({
    status: 'complete',
    content: { content: 'from elsewhere', parts: [{ type: 'text', text: 'from elsewhere', id: 'part-0' }] },
  });
});

it('unfolds a streaming message without an end', () => {
  const events = unfold({ ...imported, status: 'streaming', runId: 'r' });
  expect(events[0]).toMatchObject({ type: 'run-start', runId: 'r' });
  expect(events.at(-1)?.type).toBe('text-end');
});

it('rejects a user message and names the alternative', () => {
  expect(() => unfold({ ...imported, role: 'user' })).toThrow(/unfoldContent/);
  expect(unfoldContent(imported.content)).toHaveLength(3);
});

it('converts a part of a newer version to a raw event', () => {
  const part = { type: 'hologram', beams: 3 } as never;
  expect(unfoldContent({ format: 2, parts: [part] })).toEqual([{ type: 'raw', dialect: 'canonical', value: part }]);
});

it('applies an answer outside a run once', () => {
  const content: CanonicalMessage['content'] = {
    format: 2,
    parts: [
      { type: 'question', questionId: 'q', kind: 'input' },
      { type: 'tool-invocation', toolCallId: 'c', toolName: 't', state: 'call', args: 1 },
    ],
  };
  const once = applyAnswer(applyAnswer(content, { questionId: 'q', value: 1 }), {
    toolCallId: 'c',
    status: 'error',
    error: { message: 'no' },
  });
  expect(once.parts).toMatchObject([{ answer: { value: 1 } }, { state: 'error', error: { message: 'no' } }]);
  expect(
    applyAnswer(applyAnswer(once, { questionId: 'q', value: 2 }), { toolCallId: 'c', status: 'ok', output: 1 }),
  ).toEqual(once);
  expect(content.parts[0]).not.toHaveProperty('answer');
});

it('reflects partial answers and cancellation in the end of a paused message', () => {
  const asked = (id: string) => ({ type: 'question' as const, questionId: id, kind: 'input' as const });
  const paused: CanonicalMessage = {
    ...imported,
    status: 'paused',
    content: {
      format: 2,
      parts: [{ ...asked('a'), answer: { questionId: 'a', value: 1 } }, asked('b')],
      runs: [
        {
          runId: 'r',
          outcome: 'paused',
          waitingFor: ['a', 'b'].map((questionId) => ({ type: 'question', questionId })),
        },
      ],
    },
  };
  expect(unfold(paused).at(-1)).toMatchObject({ outcome: 'paused', waitingFor: [{ questionId: 'b' }] });
  expect(unfold({ ...paused, status: 'aborted' }).at(-1)).toMatchObject({ outcome: 'aborted' });
});

it('unfolds very long messages and very deep agent hierarchies', () => {
  const parts = Array.from({ length: 60_000 }, (_, index) => ({ type: 'text' as const, id: `${index}`, text: 'x' }));
  expect(unfold({ ...imported, content: { format: 2, parts } }).length).toBeGreaterThan(180_000);
  const agents = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, index) => [
      `a${index}`,
      { name: 'A', kind: 'agent' as const, ...(index < 19_999 && { parentAgentId: `a${index + 1}` }) },
    ]),
  );
  const [first] = unfoldContent({ format: 2, parts: [], agents });
  expect(first).toMatchObject({ agentId: 'a19999' });
});

it('reports content that no event can carry', () => {
  const losses: string[] = [];
  const parts = [{ type: 'reasoning' as const, reasoning: 'hm', details: [1] }];
  unfold({ ...imported, content: { format: 2, parts } }, ({ what }) => losses.push(what));
  expect(losses).toEqual(['reasoning.details']);
});
