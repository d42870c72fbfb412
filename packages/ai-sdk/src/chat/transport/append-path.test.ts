import { expect, test } from 'vitest';
import { appendPath } from './append-path.ts';

test.each([
  ['/api/chat', '/api/chat/x/stream'],
  ['/api/chat/', '/api/chat/x/stream'],
  ['https://a.example/chat?b=c#d', 'https://a.example/chat/x/stream?b=c#d'],
  ['', '/x/stream'],
])('appends a path to "%s"', (url, whole) => {
  expect(appendPath(url, '/x/stream')).toBe(whole);
});

test('adds parameters to an existing query', () => {
  expect(appendPath('/chat?a=1', '/stop', { run: 'r&1', after: undefined })).toBe('/chat/stop?a=1&run=r%261');
});
