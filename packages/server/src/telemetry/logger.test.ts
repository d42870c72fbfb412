import { expect, test } from 'vitest';
import { plainLogger } from './logger.ts';

test('escapes line breaks and control characters of a path', () => {
  const lines: string[] = [];
  const logger = plainLogger((line) => void lines.push(line));
  logger.log('error', 'failed', { path: '/a\r\nerror: forged\u001b[2J', error: 'Error: no\n    at here' });
  logger.log('info', 'request', { path: '/' });
  expect(lines).toEqual(['error: failed path=/a\\u000d\\u000aerror: forged\\u001b[2J error=Error: no\n    at here']);
});
