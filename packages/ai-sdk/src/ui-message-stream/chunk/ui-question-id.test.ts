import fc from 'fast-check';
import { expect, test } from 'vitest';
import { questionCallId, questionIdOf } from './ui-question-id.ts';

test('every question has an id as a tool part, and comes back by it', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (questionId) => {
      expect(questionIdOf(questionCallId(questionId))).toBe(questionId);
      expect(questionIdOf(questionCallId(questionCallId(questionId)))).toBe(questionCallId(questionId));
    }),
  );
});

test.each([['run-1:0'], ['question:q'], [questionCallId('')], [''], [undefined], [7]])('%j is no question', (id) => {
  expect(questionIdOf(id)).toBeUndefined();
});
