import { toBlobUrl, type AgentEvent, type MessagePart } from '@intertie/core';
import { expect, test } from 'vitest';
import { showBlobs, takeBlobs } from './blob-files.ts';

const sha256 = 'ab'.repeat(32);
const blobUrl = (sha: string): string => `/api/blobs/${sha}`;
const stored: MessagePart = { type: 'file', id: 'f', mimeType: 'image/png', url: toBlobUrl(sha256) };
const shown: MessagePart = { ...stored, url: `/api/blobs/${sha256}` };
const elsewhere: MessagePart = { type: 'file', url: `https://a.example/${sha256}` };
const text: MessagePart = { type: 'text', text: toBlobUrl(sha256) };

test('a page is told where to read what the store keeps, wherever the file is', () => {
  const file = stored as AgentEvent;
  expect(showBlobs(file, blobUrl)).toEqual(shown);
  const inner: MessagePart = { type: 'interjection', role: 'user', parts: [stored, text] };
  const content = { format: 2 as const, parts: [inner, stored, elsewhere] };
  expect(showBlobs({ type: 'message-snapshot', content }, blobUrl)).toMatchObject({
    content: { parts: [{ parts: [shown, text] }, shown, elsewhere] },
  });
  const interjection: AgentEvent = { ...inner, id: 'i' };
  expect(showBlobs(interjection, blobUrl)).toMatchObject({ parts: [shown, text] });
});

test('what a page sends back is what the store keeps; what only looks like it is left alone', () => {
  expect(takeBlobs([shown, elsewhere, text], blobUrl)).toEqual([stored, elsewhere, text]);
  expect(takeBlobs([{ type: 'file', data: 'AAAA' }], blobUrl)).toEqual([{ type: 'file', data: 'AAAA' }]);
});
