import {
  createInMemoryStore,
  seal,
  sourceStream,
  toReadableStream,
  type AgentEvent,
  type AgentSource,
  type Store,
} from '@intertie/core';
import { localScope } from '@intertie/core/store';
import { afterEach, expect, test } from 'vitest';
import { createIntertie, type Intertie } from '../src/create-intertie.ts';
import type { LogFields } from '../src/telemetry/logger.ts';
import { chatBody } from './client.ts';

const secret = 'Incorrect API key provided: sk-secret';
const token = 'a-token-of-16-characters';

/** A source whose provider refuses. */
const failing: AgentSource = {
  name: 'failing',
  pauses: 'replay',
  run: (run) =>
    sourceStream(
      toReadableStream<AgentEvent>([
        { type: 'agent-start', agentId: 'a', name: 'A', kind: 'agent' },
        { type: 'notice', level: 'error', message: secret, code: 'invalid_api_key' },
        { type: 'raw', dialect: 'provider', value: { type: 'error', error: { message: secret } } },
        { type: 'agent-end', agentId: 'a', outcome: 'error', error: { message: secret, data: { body: secret } } },
        {
          type: 'run-end',
          outcome: 'error',
          error: { message: secret, code: 'invalid_api_key', data: { body: secret } },
          providerMetadata: { runtime: { error: secret } },
        },
      ]),
      seal(run, () => undefined),
    ),
};

let served: Intertie | undefined;
afterEach(() => served?.close());

type FailingServer = {
  request(path: string, body?: string): Promise<string>;
  logged: Array<[string, LogFields | undefined]>;
  store: Store;
};

async function serveFailing(config: { token?: string }): Promise<FailingServer> {
  const store = createInMemoryStore();
  const logged: FailingServer['logged'] = [];
  const logger = { log: (_: string, event: string, fields?: LogFields) => void logged.push([event, fields]) };
  const intertie = await createIntertie({ agents: { failing }, database: store, ...config }, { logger });
  served = intertie;
  const request = async (path: string, body?: string): Promise<string> => {
    const headers = { host: 'localhost', 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const init = body === undefined ? { headers } : { method: 'POST', headers, body };
    const response = await intertie.fetch(new Request(`http://localhost${path}`, init));
    expect([path, response.status]).toEqual([path, 200]);
    return response.text();
  };
  return { request, logged, store };
}

const agUiBody = JSON.stringify({
  threadId: 'ag-ui',
  runId: 'r2',
  messages: [{ id: 'm1', role: 'user', content: 'Hi' }],
});

/** Reads a failed run over every route. */
async function readAll({ request }: FailingServer): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const read = async (path: string, body?: string): Promise<string> => {
    const text = await request(path, body);
    answers.set(`${body === undefined ? 'GET' : 'POST'} ${path}`, text);
    return text;
  };
  await read('/api/chat', chatBody('chat', 'Hi'));
  await read('/api/agents/failing/ag-ui', agUiBody);
  await read('/api/agents/failing/ag-ui?threadId=ag-ui');
  await read('/api/agents/failing/ag-ui?threadId=ag-ui&replay=true');
  await read('/api/chat/chat/stream');
  const { runs } = JSON.parse(await read('/api/threads/chat/runs')) as { runs: Array<{ runId: string }> };
  const run = runs[0]!.runId;
  await read(`/api/runs/${run}`);
  await read(`/api/runs/${run}/events`);
  await read(`/api/runs/${run}/events?live=false`);
  await read(`/streams/runs/${run}`);
  await read(`/streams/runs/${run}?offset=-1&live=sse`);
  await read(`/streams/runs/${run}?offset=-1&live=long-poll`);
  await read('/api/threads/chat/messages');
  await read('/api/threads/chat/messages?format=ui');
  await read('/api/threads/chat/messages?format=ag-ui');
  await read('/api/threads/chat/export');
  await read('/api/threads/chat/tree');
  await read('/api/threads/chat');
  await read('/api/threads');
  await read('/api/questions');
  return answers;
}

test('shows no text of a provider in any route, and logs and stores it', async () => {
  const server = await serveFailing({ token });
  const answers = await readAll(server);
  for (const [path, text] of answers) expect([path, text.includes('sk-secret')]).toEqual([path, false]);
  const { runs } = JSON.parse(answers.get('GET /api/threads/chat/runs')!) as {
    runs: Array<{ runId: string; outcome: unknown }>;
  };
  const { runId, outcome } = runs[0]!;
  const message = `The agent failed to answer. The server's log has the reason. Run: ${runId}.`;
  expect(outcome).toEqual({ outcome: 'error', error: { code: 'run-failed', message } });
  expect(answers.get('POST /api/chat')).toContain(JSON.stringify(message).slice(1, -1));
  expect(answers.get('POST /api/agents/failing/ag-ui')).toContain('"code":"run-failed"');
  const failures = server.logged.filter(([event]) => event === 'run-failed');
  expect(failures.map(([, fields]) => fields)).toContainEqual(
    expect.objectContaining({ runId, threadId: 'chat', agent: 'failing', code: 'invalid_api_key', error: secret }),
  );
  const records = await server.store.registry.listRuns(localScope, { threadId: 'chat' });
  expect(records).toMatchObject([{ outcome: { error: { message: secret, code: 'invalid_api_key' } } }]);
});

test('shows the whole text on loopback', async () => {
  const answers = await readAll(await serveFailing({}));
  for (const path of ['POST /api/chat', 'POST /api/agents/failing/ag-ui', 'GET /api/threads/chat/messages']) {
    expect(answers.get(path)).toContain(secret);
  }
});
