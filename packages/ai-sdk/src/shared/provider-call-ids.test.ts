import type { CanonicalMessage } from '@intertie/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { providerCallId, toProviderCallIds } from './provider-call-ids.ts';

const createMessage = (...ids: string[]): CanonicalMessage => ({
  id: 'm',
  threadId: 't',
  role: 'assistant',
  type: 'text',
  createdAt: new Date(0),
  content: {
    format: 2,
    parts: ids.map((toolCallId) => ({ type: 'tool-invocation', toolCallId, toolName: 'x', state: 'call' })),
  },
});

test('keeps accepted ids, and replaces others with similar ones', () => {
  expect([...toProviderCallIds([createMessage('call_1', 'run:1', 'toolu_01')])]).toEqual([['run:1', 'run_1']]);
});

test('maps ids to unique ids that providers accept', () => {
  const id = fc.oneof(
    fc.string(),
    fc.string({ minLength: 60, maxLength: 80 }),
    fc.constantFrom('a:b', 'a_b', 'a.b', ''),
  );
  fc.assert(
    fc.property(fc.uniqueArray(id), (ids) => {
      const renamed = toProviderCallIds([createMessage(...ids)]);
      const sent = ids.map((one) => renamed.get(one) ?? one);
      expect(new Set(sent).size).toBe(ids.length);
      for (const one of sent) expect(one).toMatch(providerCallId);
    }),
  );
});

test('maps earlier calls to the same ids when the history grows', () => {
  const before = toProviderCallIds([createMessage('a:1', 'b:2')]);
  expect([...toProviderCallIds([createMessage('a:1', 'b:2'), createMessage('c:3')])].slice(0, 2)).toEqual([...before]);
});
