import { canonical, check } from '@intertie/conformance';
import { mailSource } from '@intertie/mail';
import { startMAILDemo } from '@intertie/mail/demo';
import { openHarnessSource } from '@intertie/open-harness';
import { demoRuntime } from '@intertie/open-harness/demo';
import { describe, expect, it, onTestFinished } from 'vitest';

import { Agent } from '../../src/agent/agent.ts';
import { collect, openTestStore, joinText, type StoreKind } from '../test-stores.ts';

/** Sources that pause with a token of their runtime, or wait in their process. */
export function sources(on: StoreKind): void {
  const newsroom = (pauses: 'token' | 'live') =>
    openHarnessSource((request) => demoRuntime(request, { pace: 0 }), { pauses, name: 'newsroom', drainMs: 5 });

  describe('other runtimes', () => {
    it('continues a MAIL task over two messages, and answers its breakpoint from another process', async () => {
      const shared = await openTestStore(on);
      const swarm = await startMAILDemo({ paceMs: 1, stallMs: 20 });
      onTestFinished(() => swarm.stop());
      const source = mailSource({ baseUrl: swarm.url, authToken: 'any' });
      const agent = new Agent({ source, ...shared.process() });
      const first = await agent.stream({ threadId: 't', message: 'hello' });
      const events = await collect(first.events);
      expect(check(canonical, events).violations).toEqual([]);
      expect(joinText(events)).toContain('office');
      const asked = await agent.stream({ threadId: 't', message: 'Plan my trip' });
      const message = await asked.message;
      expect(message.status).toBe('paused');
      const call = message.content.parts.find((part) => part.type === 'tool-invocation' && part.state === 'call');
      expect(call).toMatchObject({ toolName: 'ask_user' });
      const { toolCallId } = call as { toolCallId: string };
      const other = new Agent({ source, ...shared.process() });
      const { run } = await other.answer(asked.runId, [{ toolCallId, status: 'ok', output: 'money' }]);
      const answered = await (await other.attach(run!.runId))!.message;
      expect(answered).toMatchObject({ id: asked.messageId, status: 'complete' });
      expect(JSON.stringify(answered.content.parts)).toContain('bus');
      const again = await other.generate({ threadId: 't', message: 'hello' });
      const { taskId, status } = answered.sourceState as { taskId: string; status: string };
      expect(again.message.sourceState).toMatchObject({ taskId, status });
    });

    it('continues an Open Harness flow that pauses with a token when the next message arrives', async () => {
      const agent = new Agent({ source: newsroom('token'), ...(await openTestStore(on)).process() });
      const paused = await agent.generate({ threadId: 't', message: 'heat pumps' });
      expect(paused.message).toMatchObject({ status: 'paused' });
      const next = await agent.generate({ threadId: 't', message: 'yes' });
      expect(next.message.status).toBe('complete');
      expect(next.text).toContain('Published');
      expect(next.message.state).toMatchObject({ column: { status: 'published' } });
    });

    it('answers an Open Harness flow that waits in its process from another process', async () => {
      const shared = await openTestStore(on);
      const agent = new Agent({ source: newsroom('live'), ...shared.process() });
      const run = await agent.stream({ threadId: 't', message: 'heat pumps' });
      const other = new Agent({ source: newsroom('live'), ...shared.process() });
      let verdicts: unknown;
      for await (const event of run.events) {
        if (event.type !== 'question') continue;
        await expect.poll(async () => (await run.record()).waiting).toBe(true);
        const answered = await other.answer(run.runId, [{ questionId: event.questionId, value: 'yes' }], 'ann');
        expect(answered.run!.runId).toBe(run.runId);
        ({ verdicts } = answered);
      }
      expect(verdicts).toMatchObject([{ result: 'accepted' }]);
      const message = await run.message;
      expect(message.status).toBe('complete');
      expect(JSON.stringify(message.content.parts)).toContain('Published');
    });
  });
}
