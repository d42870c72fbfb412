import { toBlobUrl, type AgentEvent, type MessagePart } from '@intertie/core';
import { expect, test } from 'vitest';
import { toBrowserUrls, toStoreUrls } from './blob-urls.ts';

const sha256 = 'ab'.repeat(32);
const blobUrl = (sha: string): string => `/api/blobs/${sha}`;
const stored: MessagePart = { type: 'file', id: 'f', mimeType: 'image/png', url: toBlobUrl(sha256) };
const shown: MessagePart = { ...stored, url: `/api/blobs/${sha256}` };
const elsewhere: MessagePart = { type: 'file', url: `https://a.example/${sha256}` };
const text: MessagePart = { type: 'text', text: toBlobUrl(sha256) };

test('a page is told where to read what the store keeps, wherever the file is', () => {
  const file = stored as AgentEvent;
  expect(toBrowserUrls(file, blobUrl)).toEqual(shown);
  const inner: MessagePart = { type: 'interjection', role: 'user', parts: [stored, text] };
  const content = { format: 2 as const, parts: [inner, stored, elsewhere] };
  expect(toBrowserUrls({ type: 'message-snapshot', content }, blobUrl)).toMatchObject({
    content: { parts: [{ parts: [shown, text] }, shown, elsewhere] },
  });
  const interjection: AgentEvent = { ...inner, id: 'i' };
  expect(toBrowserUrls(interjection, blobUrl)).toMatchObject({ parts: [shown, text] });
});

test('what a page sends back is what the store keeps; what only looks like it is left alone', () => {
  expect(toStoreUrls([shown, elsewhere, text], blobUrl)).toEqual([stored, elsewhere, text]);
  expect(toStoreUrls([{ type: 'file', data: 'AAAA' }], blobUrl)).toEqual([{ type: 'file', data: 'AAAA' }]);
});
