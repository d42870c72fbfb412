import { canonical, check } from '@intertie/conformance';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { call, finish, scriptedModel, text } from '../../../ai-sdk/test/scripted-model.ts';
import { Agent } from '../../src/agent/agent.ts';
import { collect, openTestStore, joinText, type StoreKind } from '../test-stores.ts';

export function turns(on: StoreKind): void {
  describe('turns', () => {
    it('sends the first turn to the model in the second, read from the store', async () => {
      const { store, host } = (await openTestStore(on)).process();
      const model = scriptedModel([...text('0', 'Hel', 'lo'), finish()], [...text('0', 'Again'), finish()]);
      const agent = new Agent({ model, store, host, instructions: 'Be brief.' });
      const first = await agent.stream({ threadId: 'trip', message: 'Hi there' });
      const events = await collect(first.events);
      expect(check(canonical, events).violations).toEqual([]);
      expect(joinText(events)).toBe('Hello');
      expect(await first.message).toMatchObject({ status: 'complete', id: first.messageId });
      const second = await agent.generate({ threadId: 'trip', message: 'And now?' });
      expect(second.text).toBe('Again');
      expect(model.doStreamCalls[1]!.prompt.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
      const thread = await store.getThreadById({ threadId: 'trip' });
      await expect
        .poll(() => store.getThreadById({ threadId: 'trip' }))
        .toMatchObject({
          title: 'Hi there',
          metadata: { agent: 'scripted-1' },
        });
      expect(thread).not.toBeNull();
      expect(await store.registry.listRuns(store.scope, { threadId: 'trip' })).toMatchObject([
        { state: 'complete', usage: [{ inputTokens: 10 }] },
        { state: 'complete' },
      ]);
    });

    it('commits a tool call before the tool runs', async () => {
      const { store, host } = (await openTestStore(on)).process();
      const model = scriptedModel(
        [call('c1', 'look', { at: 'sky' }), finish('tool-calls')],
        [...text('0', 'Blue'), finish()],
      );
      const seen: string[] = [];
      const look = {
        inputSchema: z.object({ at: z.string() }),
        execute: async () => {
          const live = (await store.registry.liveRun(store.scope, { threadId: 'trip' }))!;
          const { events } = await store.log.read(live.key, { epoch: 0, seq: 0 });
          for (const event of events) if (event.type === 'tool-call') seen.push(event.toolCallId);
          return 'blue';
        },
      };
      const agent = new Agent({ model, store, host, tools: { look } });
      const { text: answer, message } = await agent.generate({ threadId: 'trip', message: 'Which colour?' });
      expect(answer).toBe('Blue');
      expect(seen).toEqual(['c1']);
      expect(message.content.parts).toMatchObject([
        { type: 'tool-invocation', state: 'result', result: 'blue' },
        { type: 'text', text: 'Blue' },
      ]);
    });
  });
}
