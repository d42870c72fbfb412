import { Agent } from '@intertie/agent';
import { uiMessageStreamSource } from '@intertie/ai-sdk';
import { createInMemoryStore, type AgentSource } from '@intertie/core';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from '../../ai-sdk/test/serve.ts';
import { agUiSource } from '../src/client/ag-ui-source.ts';

type Options = { url: string; headers: (run: { principal?: string }) => Record<string, string> };

/** Runs an agent of a source for two users, and returns the header that its runtime received. */
async function runAsTwo(createSource: (options: Options) => AgentSource, events: readonly object[]) {
  const users: Array<string | null> = [];
  const served = await serve(async (request) => {
    users.push(request.headers.get('x-user'));
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  const headers: Options['headers'] = ({ principal = '' }) => ({ 'x-user': principal });
  const agent = new Agent({ source: createSource({ url: served.url, headers }), store: createInMemoryStore() });
  onTestFinished(async () => {
    await agent.close();
    await served.close();
  });
  for (const user of ['ada', 'ben']) await agent.forScope(user).generate({ threadId: 't', message: 'Go' });
  return users;
}

it('sends the user of a run to an AG-UI agent in a header', async () => {
  const ids = { threadId: 't', runId: 'r' };
  const events = [
    { type: 'RUN_STARTED', ...ids },
    { type: 'RUN_FINISHED', ...ids },
  ];
  expect(await runAsTwo(agUiSource, events)).toEqual(['ada', 'ben']);
});

it('sends the user of a run to a chat route in a header', async () => {
  const events = [{ type: 'start' }, { type: 'finish' }];
  const createSource = ({ url, headers }: Options): AgentSource => uiMessageStreamSource({ api: url, headers });
  expect(await runAsTwo(createSource, events)).toEqual(['ada', 'ben']);
});
