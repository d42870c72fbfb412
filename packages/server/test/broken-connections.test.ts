import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { agUiSource } from '@intertie/ag-ui';
import { a2aSource } from '@intertie/a2a';
import { uiMessageStreamSource } from '@intertie/ai-sdk';
import { createInMemoryStore, type AgentSource } from '@intertie/core';
import { mailSource } from '@intertie/mail';
import { openHarnessServerSource } from '@intertie/open-harness';
import { openaiSource } from '@intertie/openai';
import { Agent } from '@intertie/agent';
import { expect, onTestFinished, test } from 'vitest';

/** Starts a server that sends a first frame to every request for events, and then closes the connection. */
async function startBreakingServer(frame: object): Promise<string> {
  const server = createServer((request, response) => {
    if (request.method === 'GET' && !request.url!.includes('/events')) {
      const { port } = server.address() as AddressInfo;
      const supportedInterfaces = [
        { url: `http://127.0.0.1:${port}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ];
      const card = { name: 'remote', capabilities: { streaming: true }, supportedInterfaces, skills: [] };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(card));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify(frame)}\n\n`, () => setTimeout(() => response.destroy(), 100));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const name = 'remote';
const sources: { [kind: string]: { frame: object; create: (url: string) => AgentSource } } = {
  'an AG-UI agent': {
    frame: { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
    create: (url) => agUiSource({ url, name }),
  },
  'an A2A agent': {
    frame: { jsonrpc: '2.0', id: 1, result: {} },
    create: (url) => a2aSource({ url, name }),
  },
  'a chat route': { frame: { type: 'start' }, create: (api) => uiMessageStreamSource({ api, name }) },
  'a server of the Responses API': {
    frame: { type: 'response.in_progress' },
    create: (baseURL) => openaiSource({ baseURL, model: name }),
  },
  'a MAIL swarm': { frame: {}, create: (baseUrl) => mailSource({ baseUrl, name, reattach: false }) },
  'an Open Harness server': {
    frame: { name: 'flow:started', payload: {} },
    create: (baseUrl) => openHarnessServerSource({ baseUrl, name, sessionId: 's' }),
  },
};

test.each(Object.keys(sources))('names %s whose connection breaks during the answer', async (kind) => {
  const { frame, create } = sources[kind]!;
  const agent = new Agent({ source: create(await startBreakingServer(frame)), store: createInMemoryStore() });
  onTestFinished(() => agent.close());
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  await run.message;
  const { outcome } = await run.record();
  expect(outcome).toMatchObject({
    outcome: 'error',
    error: {
      code: 'truncated',
      message: expect.stringMatching(/^The connection to the agent "remote" broke .*\(other side closed\)/),
      data: {
        causes: expect.arrayContaining([
          expect.objectContaining({ message: 'terminated' }),
          expect.objectContaining({ message: 'other side closed', code: 'UND_ERR_SOCKET' }),
        ]),
      },
    },
  });
});
