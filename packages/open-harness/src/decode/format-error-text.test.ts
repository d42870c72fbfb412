import { expect, test } from 'vitest';
import { formatErrorText } from './format-error-text.ts';

test.each([
  ['socket hang up', 'socket hang up'],
  ['[not json', '[not json'],
  ['{"a":1}', '{"a":1}'],
  ['[{"path":["a",0],"message":"Too small"},{"message":"Odd"}]', 'its input does not fit (a.0: Too small; Odd)'],
  ['{"issues":[{"path":[],"message":"Odd"}]}', 'its input does not fit (Odd)'],
])('%s', (text, friendly) => {
  expect(formatErrorText(text)).toBe(friendly);
});
