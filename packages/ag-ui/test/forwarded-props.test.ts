import { HttpAgent } from '@ag-ui/client';
import { Agent } from '@intertie/agent';
import type { AgentEvent } from '@intertie/core';
import { expect, it, onTestFinished } from 'vitest';
import { complete, scriptedSource, textEvents } from '../../ai-sdk/test/scripted-source.ts';
import { serve } from '../../ai-sdk/test/serve.ts';
import { agUiSource } from '../src/client/ag-ui-source.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';

async function served(handler: (request: Request) => Promise<Response>): Promise<string> {
  const { url, close } = await serve(handler);
  onTestFinished(close);
  return url;
}

function createClient(url: string): HttpAgent {
  return new HttpAgent({
    url,
    threadId: 'thread-1',
    initialMessages: [{ id: 'u1', role: 'user', content: 'Go.' }],
  });
}

const forwardedProps = { tier: 'gold', key: 'the client’s' };

it('passes forwardedProps of the client to the source', async () => {
  const source = scriptedSource((run) => [...textEvents(run, 'one', 'Hello.'), complete]);
  const client = createClient(await served(createAGUIHandler(source)));
  await client.runAgent({ forwardedProps });
  await client.runAgent({});
  expect(source.runs.map((run) => run.forwardedProps)).toEqual([forwardedProps, undefined]);
});

it('lets prepare replace forwardedProps', async () => {
  const source = scriptedSource(() => [complete]);
  const prepare = () => ({ forwardedProps: { tier: 'tin' } });
  await createClient(await served(createAGUIHandler(source, { prepare }))).runAgent({ forwardedProps });
  expect(source.runs[0]?.forwardedProps).toEqual({ tier: 'tin' });
});

it('passes forwardedProps to the run that continues after an answer', async () => {
  const paused: AgentEvent[] = [
    { type: 'question', questionId: 'q1', kind: 'input', message: 'Which city?' },
    { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q1' }] },
  ];
  const source = scriptedSource(
    () => paused,
    () => [complete],
  );
  const agent = new Agent({ source });
  onTestFinished(() => agent.close());
  const client = createClient(await served(createAGUIHandler(agent)));
  await client.runAgent({ forwardedProps });
  const [interrupt] = client.pendingInterrupts;
  await client.runAgent({ resume: [{ interruptId: interrupt!.id, status: 'resolved', payload: 'Rome' }] });
  expect(source.runs.map((run) => run.forwardedProps)).toEqual([forwardedProps, forwardedProps]);
});

it('merges forwardedProps of the source over those of the client', async () => {
  const source = scriptedSource(() => [complete]);
  const behind = await served(createAGUIHandler(source));
  const before = agUiSource({ url: behind, forwardedProps: { key: 'the server’s' } });
  await createClient(await served(createAGUIHandler(before))).runAgent({ forwardedProps });
  expect(source.runs[0]?.forwardedProps).toEqual({ tier: 'gold', key: 'the server’s' });
});
