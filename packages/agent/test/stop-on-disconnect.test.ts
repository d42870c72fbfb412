import type { AgentSource } from '@intertie/core';
import { sourceStream, seal } from '@intertie/core';
import { describe, expect, it, vi } from 'vitest';

import { finish, text } from '../../ai-sdk/test/scripted-model.ts';
import { Agent } from '../src/agent/agent.ts';
import type { Run } from '../src/agent/run.ts';
import { steppedModel } from './stepped-model.ts';
import { gate, openTestStore } from './test-stores.ts';

const stopOnDisconnect = { afterMs: 50 };
/** Longer than `afterMs` and the time that other processes have to report readers. */
const longMs = 1_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Creates a model that writes until the gate opens. */
function waitingModel() {
  const proceed = gate();
  const model = steppedModel(async function* () {
    yield* text('1', 'Hello.');
    await proceed.opened;
    yield finish();
  });
  return { model, proceed };
}

async function connect(run: Pick<Run, 'follow'>): Promise<() => Promise<void>> {
  const reader = run.follow().getReader();
  await reader.read();
  return () => reader.cancel();
}

const readState = async (agent: Agent, run: { runId: string }): Promise<string> =>
  (await (await agent.find({ runId: run.runId }))!.record()).state;

describe.each(['memory', 'Postgres'] as const)('stopOnDisconnect on %s', (kind) => {
  it('stops a run when its last reader has left', async () => {
    const shared = await openTestStore(kind);
    const { model } = waitingModel();
    const agent = new Agent({ model, stopOnDisconnect, ...shared.process() });
    const run = await agent.stream({ threadId: 't', message: 'Go' });
    const leave = await Promise.all([connect(run), connect(run)]);
    await leave[0]();
    await pause(longMs);
    expect(await readState(agent, run)).toBe('running');
    await leave[1]();
    await vi.waitFor(async () => expect(await readState(agent, run)).toBe('aborted'), { timeout: 10_000 });
    const [, message] = await agent.store.listMessages({ threadId: 't' });
    expect(message?.content.parts).toMatchObject([{ type: 'text', text: 'Hello.' }]);
  });

  it('does not stop a run whose reader has moved to another process, until it leaves there', async () => {
    const shared = await openTestStore(kind);
    const { model } = waitingModel();
    const agent = new Agent({ model, stopOnDisconnect, ...shared.process() });
    const elsewhere = new Agent({ model, stopOnDisconnect, ...shared.process() });
    const run = await agent.stream({ threadId: 't', message: 'Go' });
    const leave = await connect(run);
    const leaveElsewhere = await connect((await elsewhere.attach(run.runId))!);
    // Postgres delivers hints only after its connection has been probed.
    await vi.waitFor(() => expect(agent.store.hints.isConnected?.() ?? true).toBe(true), { timeout: 10_000 });
    await vi.waitFor(() => expect(elsewhere.store.hints.isConnected?.() ?? true).toBe(true), { timeout: 10_000 });
    await leave();
    await pause(longMs);
    expect(await readState(agent, run)).toBe('running');
    await leaveElsewhere();
    await vi.waitFor(async () => expect(await readState(agent, run)).toBe('aborted'), { timeout: 10_000 });
  });
});

describe('stopOnDisconnect', () => {
  it('does not stop a run whose reader returns in time', async () => {
    const shared = await openTestStore('memory');
    const { model, proceed } = waitingModel();
    const agent = new Agent({ model, stopOnDisconnect: { afterMs: 5_000 }, ...shared.process() });
    const run = await agent.stream({ threadId: 't', message: 'Go' });
    await (
      await connect(run)
    )();
    const leave = await connect(run);
    await pause(longMs);
    proceed.open();
    expect((await run.message).status).toBe('complete');
    await leave();
  });

  it('does not stop a run that was never read', async () => {
    const shared = await openTestStore('memory');
    const { model, proceed } = waitingModel();
    const agent = new Agent({ model, stopOnDisconnect, ...shared.process() });
    const run = await agent.stream({ threadId: 't', message: 'Go' });
    await pause(longMs);
    proceed.open();
    expect((await run.message).status).toBe('complete');
  });

  it('does not stop a run that waits for an answer in its process', async () => {
    const shared = await openTestStore('memory');
    const source: AgentSource = {
      name: 'asking',
      pauses: 'live',
      run: (input, { signal, liveAnswers }) =>
        sourceStream(
          async function* () {
            yield { type: 'question' as const, questionId: 'q', kind: 'input' as const };
            for await (const answer of liveAnswers) {
              yield { type: 'answer' as const, ...answer };
              break;
            }
            yield { type: 'run-end' as const, outcome: 'complete' as const };
          },
          seal(input, () => undefined),
          { signal },
        ),
    };
    const agent = new Agent({ source, stopOnDisconnect, ...shared.process() });
    const run = await agent.stream({ threadId: 't', message: 'Go' });
    const isAsked = async (): Promise<void> => {
      const { registry, scope } = agent.store;
      expect(await registry.listDecisions(scope, { threadId: 't', state: 'open' })).toHaveLength(1);
    };
    const leave = await connect(run);
    await vi.waitFor(isAsked);
    await leave();
    await pause(longMs);
    await agent.answer(run, [{ questionId: 'q', value: 'Yes' }]);
    expect((await run.message).status).toBe('complete');
  });

  it('does not affect agents without the option', async () => {
    const shared = await openTestStore('memory');
    const { model, proceed } = waitingModel();
    const agent = new Agent({ model, ...shared.process() });
    const run = await agent.stream({ threadId: 't', message: 'Go' });
    await (
      await connect(run)
    )();
    await pause(longMs);
    proceed.open();
    expect((await run.message).status).toBe('complete');
  });
});
