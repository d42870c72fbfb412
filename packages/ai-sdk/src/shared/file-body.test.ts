import type { Loss } from '@intertie/core';
import { expect, test } from 'vitest';
import { parseFileBody, parseDataUrl, toDataUrl } from './file-body.ts';

const none = (): void => undefined;

test.each<[string, unknown, object]>([
  ['base64', 'aGk=', { data: 'aGk=' }],
  ['bytes', new Uint8Array([104, 105]), { data: 'aGk=' }],
  ['a buffer', new Uint8Array([104, 105]).buffer, { data: 'aGk=' }],
  ['a URL', 'https://example.com/a.png', { url: 'https://example.com/a.png' }],
  ['a URL object', new URL('https://example.com/a.png'), { url: 'https://example.com/a.png' }],
  ['a relative URL', '/a.png', { url: '/a.png' }],
  ['a data URL', 'data:text/plain;base64,aGk=', { data: 'aGk=', mimeType: 'text/plain' }],
  ['a data URL of text', 'data:text/plain;charset=utf-8,h%69', { data: 'aGk=', mimeType: 'text/plain' }],
  ['tagged data of 7', { type: 'data', data: 'aGk=' }, { data: 'aGk=' }],
  ['a tagged URL of 7', { type: 'url', url: new URL('https://example.com/') }, { url: 'https://example.com/' }],
  ['tagged text of 7', { type: 'text', text: 'hi' }, { data: 'aGk=', mimeType: 'text/plain' }],
  ['a reference', { openai: 'file-1' }, { reference: { provider: 'openai', ref: 'file-1' } }],
  [
    'a tagged reference of 7',
    { type: 'reference', reference: { openai: 'file-1' } },
    { reference: { provider: 'openai', ref: 'file-1' } },
  ],
])('parses %s', (_, data, body) => {
  expect(parseFileBody({ data }, none)).toEqual(body);
});

test('prefers the media type of the file over that of its data URL', () => {
  const data = 'data:text/plain;base64,aGk=';
  expect(parseFileBody({ data, mediaType: 'text/markdown', filename: 'a.md' }, none)).toEqual({
    data: 'aGk=',
    mimeType: 'text/markdown',
    filename: 'a.md',
  });
});

test('reports a file without content', () => {
  const losses: Loss[] = [];
  for (const data of [undefined, 7, {}, { type: 'data' }]) {
    expect(parseFileBody({ data }, (loss) => losses.push(loss))).toBeUndefined();
  }
  expect(losses).toHaveLength(4);
});

test('keeps a malformed data URL as a URL', () => {
  expect(parseDataUrl('data:nothing')).toBeUndefined();
  expect(parseDataUrl('data:text/plain,%')).toBeUndefined();
  expect(parseFileBody({ data: 'data:image/png;base64,!!' }, none)).toEqual({ url: 'data:image/png;base64,!!' });
});

test('round-trips data URLs', () => {
  expect(parseDataUrl(toDataUrl({ data: 'aGk=', mimeType: 'text/plain' }))).toEqual({
    data: 'aGk=',
    inferred: 'text/plain',
  });
  expect(parseDataUrl(toDataUrl({ data: 'aGk=' }))).toEqual({ data: 'aGk=' });
});
