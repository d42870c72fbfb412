import { HttpAgent } from '@ag-ui/client';
import { Agent } from '@intertie/agent';
import type { AgentEvent } from '@intertie/core';
import { expect, it, onTestFinished } from 'vitest';
import { complete, says, scriptedSource } from '../../ai-sdk/test/scripted-source.ts';
import { serve } from '../../ai-sdk/test/serve.ts';
import { agUiSource } from '../src/client/ag-ui-source.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';

async function served(handler: (request: Request) => Promise<Response>): Promise<string> {
  const { url, close } = await serve(handler);
  onTestFinished(close);
  return url;
}

function clientOf(url: string): HttpAgent {
  return new HttpAgent({
    url,
    threadId: 'thread-1',
    initialMessages: [{ id: 'u1', role: 'user', content: 'Go.' }],
  });
}

const forwardedProps = { tier: 'gold', key: 'the client’s' };

it('what a client forwards is the source’s to read, and nothing where it forwards nothing', async () => {
  const source = scriptedSource((run) => [...says(run, 'one', 'Hello.'), complete]);
  const client = clientOf(await served(createAGUIHandler(source)));
  await client.runAgent({ forwardedProps });
  await client.runAgent({});
  expect(source.runs.map((run) => run.forwardedProps)).toEqual([forwardedProps, undefined]);
});

it('the server has the last word on what is forwarded', async () => {
  const source = scriptedSource(() => [complete]);
  const prepare = () => ({ forwardedProps: { tier: 'tin' } });
  await clientOf(await served(createAGUIHandler(source, { prepare }))).runAgent({ forwardedProps });
  expect(source.runs[0]?.forwardedProps).toEqual({ tier: 'tin' });
});

it('what was forwarded is kept with a run, for the one that goes on after an answer too', async () => {
  const asks: AgentEvent[] = [
    { type: 'question', questionId: 'q1', kind: 'input', message: 'Which city?' },
    { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q1' }] },
  ];
  const source = scriptedSource(
    () => asks,
    () => [complete],
  );
  const agent = new Agent({ source });
  onTestFinished(() => agent.close());
  const client = clientOf(await served(createAGUIHandler(agent)));
  await client.runAgent({ forwardedProps });
  const [asked] = client.pendingInterrupts;
  await client.runAgent({ resume: [{ interruptId: asked!.id, status: 'resolved', payload: 'Rome' }] });
  expect(source.runs.map((run) => run.forwardedProps)).toEqual([forwardedProps, forwardedProps]);
});

it('an agent behind an agent is given it too, under what the source says itself', async () => {
  const source = scriptedSource(() => [complete]);
  const behind = await served(createAGUIHandler(source));
  const before = agUiSource({ url: behind, forwardedProps: { key: 'the server’s' } });
  await clientOf(await served(createAGUIHandler(before))).runAgent({ forwardedProps });
  expect(source.runs[0]?.forwardedProps).toEqual({ tier: 'gold', key: 'the server’s' });
});
