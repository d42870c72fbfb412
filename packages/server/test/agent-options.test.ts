import { createInMemoryStore, seal, sourceStream, type AgentDetails, type AgentSource } from '@intertie/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sourceDefinition } from '../src/agents/agent-definition.ts';
import { serve, type ServedIntertie } from '../src/serve.ts';
import { chatBody } from './client.ts';

/** Writes a delta every 20 ms until it is stopped. */
const endless: AgentSource = {
  name: 'endless',
  pauses: 'replay',
  run: (input, { signal }) =>
    sourceStream(
      async function* () {
        yield { type: 'text-start' as const, id: 'text' };
        while (!signal.aborted) {
          yield { type: 'text-delta' as const, id: 'text', delta: 'more ' };
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      },
      seal(input, () => undefined),
      { signal },
    ),
};

async function start(source: AgentSource, details: AgentDetails): Promise<ServedIntertie> {
  const agents = { helper: { ...sourceDefinition(source), ...details } };
  const server = await serve({ agents, database: createInMemoryStore() }, { port: 0 });
  onTestFinished(() => server.close());
  return server;
}

const agUiBody = (threadId: string): string =>
  JSON.stringify({ threadId, runId: 'run-1', messages: [{ id: 'u1', role: 'user', content: 'Go.' }] });

test.each([
  ['chat', chatBody('left', 'Go.')],
  ['ag-ui', agUiBody('left')],
])('stops a run whose client has disconnected from the %s endpoint', async (endpoint, body) => {
  const { url } = await start(endless, { stopOnDisconnect: { afterMs: 50 } });
  const leave = new AbortController();
  const response = await fetch(`${url}/api/agents/helper/${endpoint}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: leave.signal,
  });
  await response.body!.getReader().read();
  leave.abort();
  const readRun = async (): Promise<string> =>
    (await fetch(`${url}/api/runs/${response.headers.get('x-intertie-run')}`)).text();
  await vi.waitFor(async () => expect(await readRun()).toContain('"state":"aborted"'), { timeout: 10_000 });
});

test('sends LangGraph interrupts at the AG-UI endpoint', async () => {
  const asking: AgentSource = {
    name: 'asking',
    pauses: 'replay',
    run: (input, { signal }) =>
      sourceStream(
        async function* () {
          yield { type: 'question' as const, questionId: 'q', kind: 'input' as const, message: 'Where?' };
          const waitingFor = [{ type: 'question' as const, questionId: 'q' }];
          yield { type: 'run-end' as const, outcome: 'paused' as const, waitingFor };
        },
        seal(input, () => undefined),
        { signal },
      ),
  };
  const { url } = await start(asking, { interrupts: 'langgraph' });
  const body = agUiBody('asked');
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/agents/helper/ag-ui`, { method: 'POST', headers, body });
  expect(await response.text()).toMatch(/"name":"on_interrupt","value":\{.*"message":"Where\?"/);
});
