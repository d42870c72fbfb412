import { expect, test } from 'vitest';
import { formatErrorText } from './format-error-text.ts';

test.each([
  ['socket hang up', 'socket hang up'],
  ['[not json', '[not json'],
  ['{"a":1}', '{"a":1}'],
  ['[{"path":["a",0],"message":"Too small"},{"message":"Odd"}]', 'invalid input (a.0: Too small; Odd)'],
  ['{"issues":[{"path":[],"message":"Odd"}]}', 'invalid input (Odd)'],
])('%s', (text, friendly) => {
  expect(formatErrorText(text)).toBe(friendly);
});
