import { createInMemoryStore } from '@intertie/core';
import { simulateReadableStream } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { expect, test } from 'vitest';
import { model } from '../src/agent-kinds.ts';
import { createIntertie } from '../src/create-intertie.ts';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
/** Larger than what is stored inside a message. */
const picture = new Uint8Array(50_000).fill(7);

test('resolves an uploaded file to bytes for the model and to a URL for clients', async () => {
  const painter = new MockLanguageModelV3({
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: 'file', mediaType: 'image/png', data: picture },
          { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
        ],
      }),
    }),
  });
  const intertie = await createIntertie({ agents: { painter: model(painter) }, database: createInMemoryStore() });
  const request = (path: string, init?: RequestInit): Promise<Response> =>
    intertie.fetch(new Request(`http://localhost${path}`, init));

  const headers = { 'content-type': 'image/png' };
  const uploaded = await request('/api/blobs', { method: 'POST', body: picture, headers });
  const { url } = (await uploaded.json()) as { url: string };
  const parts = [
    { type: 'text', text: 'What is this?' },
    { type: 'file', mediaType: 'image/png', url },
  ];
  const body = JSON.stringify({ id: 'files', messages: [{ id: 'u1', role: 'user', parts }] });
  const answer = await (await request('/api/chat', { method: 'POST', body })).text();

  const [call] = painter.doStreamCalls;
  const content = call!.prompt.find(({ role }) => role === 'user')!.content as Array<{ type: string; data?: unknown }>;
  const file = content.find(({ type }) => type === 'file')!;
  expect(Buffer.from(file.data as string, typeof file.data === 'string' ? 'base64' : undefined)).toEqual(
    Buffer.from(picture),
  );
  expect(answer).toContain(`"url":"${url}"`);
  const { messages } = (await (await request('/api/threads/files/messages?format=ui')).json()) as {
    messages: unknown[];
  };
  expect(JSON.stringify(messages).split(url)).toHaveLength(3);
  const canonical = await (await request('/api/threads/files/messages')).text();
  expect(canonical).not.toContain('/api/blobs/');
  expect(new Uint8Array(await (await request(url)).arrayBuffer())).toEqual(picture);
  await intertie.close();
});
