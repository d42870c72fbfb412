import { seal, sourceStream, type AgentEvent, type AgentSource } from '@intertie/core';
import { PostgresMemoryStore } from '@intertie/postgres';
import { describe, expect, it, type TestContext } from 'vitest';

import { connectPg } from '../../postgres/src/pg-database.ts';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { startFaultProxy, type FaultProxy } from '../../postgres/test/fault-proxy.ts';
import { Agent } from '../src/agent/agent.ts';
import { createRunHost, type RunHostOptions } from '../src/execution/run-host.ts';
import { collect, gate, joinText } from './test-stores.ts';

/** A source that emits text, asks a question when the gate opens, and pauses for its answer. */
function askingSource(asks: Promise<void>): AgentSource {
  const ask = async function* (): AsyncGenerator<AgentEvent> {
    yield { type: 'text-start', id: 'a' };
    yield { type: 'text-delta', id: 'a', delta: 'Before' };
    await asks;
    yield { type: 'text-delta', id: 'a', delta: ' and during' };
    yield { type: 'text-end', id: 'a' };
    yield { type: 'question', questionId: 'q1', kind: 'input', message: 'Which?' };
    yield { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q1' }] };
  };
  return {
    name: 'asking',
    pauses: 'replay',
    run: (run, { signal }) =>
      sourceStream(
        ask,
        seal(run, () => undefined),
        { signal },
      ),
  };
}

async function setUp(
  { onTestFinished }: TestContext,
  source: AgentSource,
  options: RunHostOptions,
): Promise<{ proxy: FaultProxy; agent: Agent }> {
  const proxy = await startFaultProxy(await newPostgresUrl());
  const timeouts = { statementMs: 1_000, controlMs: 1_000, connectMs: 1_000 };
  const store = PostgresMemoryStore.on(connectPg(proxy.url, { timeouts }));
  const host = createRunHost(store, { heartbeatMs: 200, sweepMs: 200, ...options });
  onTestFinished(async () => {
    await host.close();
    await store.close();
    await proxy.close();
  });
  return { proxy, agent: new Agent({ source, store, host }) };
}

const faults: Array<{ name: string; begin: (proxy: FaultProxy) => unknown; end: (proxy: FaultProxy) => unknown }> = [
  { name: 'refuses connections', begin: (proxy) => proxy.down(), end: (proxy) => proxy.up() },
  { name: 'does not answer', begin: (proxy) => proxy.silence(), end: (proxy) => proxy.resume() },
];

// Concurrent, because the tests wait for the end of an outage.
describe.concurrent.each(faults)('a database that $name', { timeout: 60_000 }, ({ begin, end }) => {
  it('delays a question until the database answers, and loses no events', async (context) => {
    const asks = gate();
    const { proxy, agent } = await setUp(context, askingSource(asks.opened), {});
    const run = await agent.stream({ threadId: 't', message: 'Go' });
    const read = collect(run.events);
    await begin(proxy);
    asks.open();
    await new Promise((resolve) => void setTimeout(resolve, 1_500));
    await end(proxy);
    const events = await read;
    expect(joinText(events)).toBe('Before and during');
    expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'paused' });
    expect((await run.record()).outcome).toMatchObject({ outcome: 'paused' });
    const { verdicts } = await agent.answer(run.runId, [{ questionId: 'q1', value: 'this' }]);
    expect(verdicts).toMatchObject([{ result: 'accepted' }]);
  });

  it('ends a run that asks during a longer outage with a message for users and with all of its text', async (context) => {
    const asks = gate();
    const errors: unknown[] = [];
    const { proxy, agent } = await setUp(context, askingSource(asks.opened), {
      maxOutageMs: 500,
      onError: (error) => errors.push(error),
    });
    const run = await agent.stream({ threadId: 't', message: 'Go' });
    const read = collect(run.events).catch((error: unknown) => error);
    await begin(proxy);
    asks.open();
    await context.expect.poll(() => errors.length, { timeout: 10_000 }).toBeGreaterThan(3);
    await new Promise((resolve) => void setTimeout(resolve, 5_000));
    await end(proxy);
    await read;
    await context.expect
      .poll(async () => (await run.record().catch(() => undefined))?.outcome, { timeout: 20_000 })
      .toMatchObject({
        outcome: 'error',
        error: { code: 'database-away', message: expect.stringMatching(/Try again/) },
      });
    const message = await agent.store.getMessage({ threadId: 't', messageId: run.messageId });
    expect(message?.content.parts[0]).toMatchObject({ text: 'Before and during' });
    expect(JSON.stringify([await run.record(), message])).not.toMatch(/terminated|ECONN|timeout/i);
  });
});
