import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toQuestionCallId, parseQuestionId } from './ui-question-id.ts';

test('converts every question id to a call id and back', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (questionId) => {
      expect(parseQuestionId(toQuestionCallId(questionId))).toBe(questionId);
      expect(parseQuestionId(toQuestionCallId(toQuestionCallId(questionId)))).toBe(toQuestionCallId(questionId));
    }),
  );
});

test.each([['run-1:0'], ['question:q'], [toQuestionCallId('')], [''], [undefined], [7]])(
  'does not parse %j as a question',
  (id) => {
    expect(parseQuestionId(id)).toBeUndefined();
  },
);
