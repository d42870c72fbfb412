import { createInMemoryStore } from '@intertie/core';
import { streamText as streamText6 } from 'ai';
import { streamText as streamText7 } from 'ai-7';
import { expect, it } from 'vitest';
import { z } from 'zod';

import { call, finish, scriptedModel, text } from '../../ai-sdk/test/scripted-model.ts';
import { Agent } from '../src/agent/agent.ts';

it.each([
  ['ai 6', streamText6],
  ['ai 7', streamText7 as unknown as typeof streamText6],
])('commits a tool call before the tool runs, and continues after an approval: %s', async (_, streamText) => {
  const store = createInMemoryStore();
  const model = scriptedModel(
    [call('c1', 'look'), finish('tool-calls')],
    [call('c2', 'pay'), finish('tool-calls')],
    [...text('0', 'Done'), finish()],
  );
  const ran: string[] = [];
  const tool = (name: string, needsApproval: boolean) => ({
    inputSchema: z.object({}),
    needsApproval,
    execute: async (__: object, { toolCallId }: { toolCallId: string }) => {
      const { key } = (await store.registry.liveRun(store.scope, { threadId: 't' }))!;
      const { events } = await store.log.read(key, { epoch: 0, seq: 0 });
      ran.push(`${name} ${JSON.stringify(events).includes(toolCallId)}`);
      return 'ok';
    },
  });
  const tools = { look: tool('look', false), pay: tool('pay', true) };
  const agent = new Agent({ model, store, tools, streamText });
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  const paused = await run.message;
  expect(paused.status).toBe('paused');
  const asked = paused.content.parts.find((part) => part.type === 'tool-invocation' && part.approval) as {
    approval: { questionId: string };
  };
  const answers = [{ questionId: asked.approval.questionId, approved: true }];
  const next = await agent.stream({ threadId: 't', answers });
  expect(await next.message).toMatchObject({ id: run.messageId, status: 'complete' });
  expect(ran).toEqual(['look true', 'pay true']);
  await agent.close();
});
