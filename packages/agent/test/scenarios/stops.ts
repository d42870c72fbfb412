import { canonical, check } from '@intertie/conformance';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { call, finish, text } from '../../../ai-sdk/test/scripted-model.ts';
import { Agent } from '../../src/agent/agent.ts';
import { collect, gate, openTestStore, joinText, type StoreKind } from '../test-stores.ts';
import { steppedModel } from '../stepped-model.ts';

const never = new Promise<void>(() => {});

export function stops(on: StoreKind): void {
  describe('stops', () => {
    it.each(['this process', 'another process'])('stops before the first token, from %s', async (from) => {
      const shared = await openTestStore(on);
      const asked = gate();
      const model = steppedModel(async function* () {
        asked.open();
        await never;
        yield finish();
      });
      const agent = new Agent({ model, ...shared.process() });
      const run = await agent.stream({ threadId: 't', message: 'Go' });
      await asked.opened;
      const other = from === 'this process' ? agent : new Agent({ model, ...shared.process() });
      expect(await (await other.attach(run.runId))!.stop('enough')).toBe('requested');
      const events = await collect(run.events);
      expect(check(canonical, events).violations).toEqual([]);
      expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'aborted', by: 'user', reason: 'enough' });
      expect(await run.message).toMatchObject({ status: 'aborted' });
      expect(await (await other.attach(run.runId))!.stop()).toBe('ended');
    });

    it('stops during text, tool input and a tool, stores the partial message, and continues the thread', async () => {
      const { store, host } = (await openTestStore(on)).process();
      const toolBegun = gate();
      let isToolAborted = false;
      const model = steppedModel(
        async function* () {
          yield* text('0', 'Half').slice(0, 2);
          await never;
        },
        async function* () {
          yield { type: 'tool-input-start', id: 'c1', toolName: 'wait' };
          yield { type: 'tool-input-delta', id: 'c1', delta: '{"lo' };
          await never;
        },
        () => [call('c2', 'wait', {}), finish('tool-calls')],
        () => [...text('0', 'Fine'), finish()],
      );
      const wait = {
        inputSchema: z.object({}),
        execute: async (_: object, { abortSignal }: { abortSignal?: AbortSignal }) => {
          abortSignal?.addEventListener('abort', () => void (isToolAborted = true));
          toolBegun.open();
          await never;
        },
      };
      const agent = new Agent({ model, store, host, tools: { wait } });
      const until = { 0: 'text-delta', 1: 'tool-input-delta', 2: 'tool-call' } as const;
      for (const turn of [0, 1, 2] as const) {
        const run = await agent.stream({ threadId: 't', message: `Turn ${turn}` });
        for await (const event of run.events) {
          if (event.type !== until[turn]) continue;
          if (turn === 2) await toolBegun.opened;
          await run.stop();
        }
        expect(await run.message).toMatchObject({ status: 'aborted' });
        expect(check(canonical, await collect(run.events)).violations).toEqual([]);
      }
      expect(isToolAborted).toBe(true);
      expect((await agent.generate({ threadId: 't', message: 'Still there?' })).text).toBe('Fine');
      const messages = await store.listMessages({ threadId: 't' });
      expect(messages[1]!.content.parts).toMatchObject([{ type: 'text', text: 'Half' }]);
      const prompt = model.doStreamCalls.at(-1)!.prompt;
      expect(JSON.stringify(prompt)).toContain('interrupted');
    });

    it('stops when the signal is aborted, and not when a reader disconnects', async () => {
      const at = (await openTestStore(on)).process();
      const proceed = gate();
      const model = steppedModel(
        async function* () {
          yield* text('0', 'a', 'b').slice(0, 2);
          await proceed.opened;
          yield* text('0', 'a', 'b').slice(2);
          yield finish();
        },
        async function* () {
          await never;
          yield finish();
        },
      );
      const agent = new Agent({ model, ...at });
      const run = await agent.stream({ threadId: 't', message: 'Go' });
      for await (const event of run.events) if (event.type === 'text-delta') break;
      proceed.open();
      expect(await run.message).toMatchObject({ status: 'complete' });
      expect(joinText(await collect(run.events))).toBe('ab');
      const controller = new AbortController();
      const second = await agent.stream({ threadId: 't', message: 'Go', signal: controller.signal });
      controller.abort();
      expect(await second.message).toMatchObject({ status: 'aborted' });
    });

    it('refuses new runs and aborts active runs on shutdown', async () => {
      const shared = await openTestStore(on);
      const { store, host } = shared.process();
      const model = steppedModel(async function* () {
        yield* text('0', 'Half').slice(0, 2);
        await never;
      });
      const agent = new Agent({ model, store, host });
      const run = await agent.stream({ threadId: 't', message: 'Go' });
      for await (const event of run.events) if (event.type === 'text-delta') break;
      await agent.close({ drainMs: 10 });
      await expect(agent.start({ threadId: 't' })).rejects.toMatchObject({ code: 'closing' });
      const other = new Agent({ model, ...shared.process() });
      const found = (await other.attach(run.runId))!;
      expect((await collect(found.events)).at(-1)).toMatchObject({
        outcome: 'aborted',
        by: 'system',
        reason: 'shutdown',
      });
    });
  });
}
