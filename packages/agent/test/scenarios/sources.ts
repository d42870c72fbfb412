import { canonical, check } from '@intertie/conformance';
import { mailSource } from '@intertie/mail';
import { startMAILDemo } from '@intertie/mail/demo';
import { openHarnessSource } from '@intertie/open-harness';
import { demoRuntime } from '@intertie/open-harness/demo';
import { describe, expect, it, onTestFinished } from 'vitest';

import { Agent } from '../../src/agent/agent.ts';
import { collect, openStage, saidIn, type StageName } from '../stage.ts';

/** Sources that pause by their runtime's own token, or inside the process. */
export function sources(on: StageName): void {
  const newsroom = (pauses: 'token' | 'live') =>
    openHarnessSource((turn) => demoRuntime(turn, { pace: 0 }), { pauses, name: 'newsroom', drainMs: 5 });

  describe('other runtimes', () => {
    it('a swarm: two turns of one task, a breakpoint, and its answer in another process', async () => {
      const stage = await openStage(on);
      const swarm = await startMAILDemo({ paceMs: 1, stallMs: 20 });
      onTestFinished(() => swarm.stop());
      const source = mailSource({ baseUrl: swarm.url, authToken: 'any' });
      const agent = new Agent({ source, ...stage.process() });
      const first = await agent.stream({ threadId: 't', message: 'hello' });
      const said = await collect(first.events);
      expect(check(canonical, said).violations).toEqual([]);
      expect(saidIn(said)).toContain('office');
      const asked = await agent.stream({ threadId: 't', message: 'Plan my trip' });
      const message = await asked.message;
      expect(message.status).toBe('paused');
      const call = message.content.parts.find((part) => part.type === 'tool-invocation' && part.state === 'call');
      expect(call).toMatchObject({ toolName: 'ask_user' });
      const { toolCallId } = call as { toolCallId: string };
      const other = new Agent({ source, ...stage.process() });
      const { run } = await other.answer(asked.runId, [{ toolCallId, status: 'ok', output: 'money' }]);
      const answered = await (await other.attach(run!.runId))!.message;
      expect(answered).toMatchObject({ id: asked.messageId, status: 'complete' });
      expect(JSON.stringify(answered.content.parts)).toContain('bus');
      const again = await other.generate({ threadId: 't', message: 'hello' });
      expect(again.message.sourceState).toEqual(answered.sourceState);
    });

    it('a flow that pauses by its token: the next message goes on with it', async () => {
      const agent = new Agent({ source: newsroom('token'), ...(await openStage(on)).process() });
      const paused = await agent.generate({ threadId: 't', message: 'heat pumps' });
      expect(paused.message).toMatchObject({ status: 'paused' });
      const next = await agent.generate({ threadId: 't', message: 'yes' });
      expect(next.message.status).toBe('complete');
      expect(next.text).toContain('Published');
      expect(next.message.state).toMatchObject({ column: { status: 'published' } });
    });

    it('a flow that waits inside its process: answered from another one', async () => {
      const stage = await openStage(on);
      const agent = new Agent({ source: newsroom('live'), ...stage.process() });
      const run = await agent.stream({ threadId: 't', message: 'heat pumps' });
      const other = new Agent({ source: newsroom('live'), ...stage.process() });
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
