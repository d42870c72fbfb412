import { toBlobUrl, type AgentEvent, type MessagePart } from '@intertie/core';
import { expect, test } from 'vitest';
import { toBrowserUrls, toStoreUrls } from './blob-urls.ts';

const sha256 = 'ab'.repeat(32);
const blobUrl = (sha: string): string => `/api/blobs/${sha}`;
const stored: MessagePart = { type: 'file', id: 'f', mimeType: 'image/png', url: toBlobUrl(sha256) };
const inBrowser: MessagePart = { ...stored, url: `/api/blobs/${sha256}` };
const elsewhere: MessagePart = { type: 'file', url: `https://a.example/${sha256}` };
const text: MessagePart = { type: 'text', text: toBlobUrl(sha256) };

test('replaces blob URLs with browser URLs in all events with files', () => {
  const file = stored as AgentEvent;
  expect(toBrowserUrls(file, blobUrl)).toEqual(inBrowser);
  const inner: MessagePart = { type: 'interjection', role: 'user', parts: [stored, text] };
  const content = { format: 2 as const, parts: [inner, stored, elsewhere] };
  expect(toBrowserUrls({ type: 'message-snapshot', content }, blobUrl)).toMatchObject({
    content: { parts: [{ parts: [inBrowser, text] }, inBrowser, elsewhere] },
  });
  const interjection: AgentEvent = { ...inner, id: 'i' };
  expect(toBrowserUrls(interjection, blobUrl)).toMatchObject({ parts: [inBrowser, text] });
});

test('restores blob URLs and leaves other URLs with a hash unchanged', () => {
  expect(toStoreUrls([inBrowser, elsewhere, text], blobUrl)).toEqual([stored, elsewhere, text]);
  expect(toStoreUrls([{ type: 'file', data: 'AAAA' }], blobUrl)).toEqual([{ type: 'file', data: 'AAAA' }]);
});
