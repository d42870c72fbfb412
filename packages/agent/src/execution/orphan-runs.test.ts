import { createInMemoryStore, type AgentEvent, type AgentSource, type Store } from '@intertie/core';
import type { Ownership, RunKey } from '@intertie/core/store';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { gate } from '../../test/test-stores.ts';
import { Agent } from '../agent/agent.ts';
import { OrphanRuns } from './orphan-runs.ts';
import { OwnershipCalls } from './ownership-calls.ts';
import { createRunHost } from './run-host.ts';

const ownership = (key: string, rest: { epoch?: number; resumes?: string } = {}): Ownership => {
  const { epoch = 1, resumes } = rest;
  return { run: { key, ...(resumes !== undefined && { resumes }) } as Ownership['run'], epoch, nextSeq: 1 };
};

describe('finding orphans', () => {
  function finder(owned: Ownership[]) {
    const calls = new OwnershipCalls(() => undefined);
    const known = new Set<RunKey>();
    const listOwned = vi.fn<(process: string, query?: { except?: readonly RunKey[] }) => Promise<Ownership[]>>(
      async (_, { except = [] } = {}) => owned.filter(({ run }) => !except.includes(run.key)),
    );
    const orphans = new OrphanRuns({ registry: { listOwned }, process: 'p1', calls, known: () => known });
    return { orphans, calls, known, owned };
  }

  it('returns an unknown run at the second call', async () => {
    const run = ownership('a');
    const { orphans } = finder([run]);
    expect(await orphans.find()).toEqual([]);
    expect(await orphans.find()).toEqual([run]);
  });

  it('omits a run that has become known', async () => {
    const { orphans, known } = finder([ownership('a')]);
    await orphans.find();
    known.add('a' as RunKey);
    expect(await orphans.find()).toEqual([]);
    known.delete('a' as RunKey);
    expect(await orphans.find()).toEqual([]);
  });

  it('waits for the calls that were in flight at the first call', async () => {
    const run = ownership('a');
    const { orphans, calls } = finder([run]);
    const { opened, open } = gate();
    const call = calls.call(
      () => opened,
      () => undefined,
    );
    await orphans.find();
    expect(await orphans.find()).toEqual([]);
    expect(await orphans.find()).toEqual([]);
    open();
    await call;
    expect(await orphans.find()).toEqual([run]);
  });

  it('does not wait for calls that began after the first call', async () => {
    const run = ownership('a');
    const { orphans, calls } = finder([run]);
    await orphans.find();
    const { opened, open } = gate();
    const call = calls.call(
      () => opened,
      () => undefined,
    );
    expect(await orphans.find()).toEqual([run]);
    open();
    await call;
  });

  it('starts over when the epoch of the run has changed', async () => {
    const { orphans, owned } = finder([ownership('a')]);
    await orphans.find();
    owned[0] = ownership('a', { epoch: 2 });
    expect(await orphans.find()).toEqual([]);
    expect(await orphans.find()).toEqual([owned[0]]);
  });

  it('omits the continuation of a run whose end is not acknowledged', async () => {
    const { orphans, known } = finder([ownership('b', { resumes: 'a' })]);
    known.add('a' as RunKey);
    await orphans.find();
    expect(await orphans.find()).toEqual([]);
  });
});

describe('a run that its process owns and does not know', () => {
  const runs: string[] = [];
  const source: AgentSource = {
    name: 'echo',
    pauses: 'replay',
    run({ runId }) {
      runs.push(runId);
      return new ReadableStream<AgentEvent>({
        start(controller) {
          controller.enqueue({ type: 'text-start', id: 'a' });
          controller.enqueue({ type: 'run-end', outcome: 'complete' });
          controller.close();
        },
      });
    },
  };

  async function loseStartReply(
    runId: string,
  ): Promise<{ store: Store; owned: Ownership; agent: Agent; errors: string[] }> {
    const store = createInMemoryStore();
    const errors: string[] = [];
    const host = createRunHost(store, { process: 'p1', sweepMs: 5, onError: (error) => errors.push(String(error)) });
    onTestFinished(() => host.close());
    const agent = new Agent({ source, store, host });
    // Not `agent.stream`, so that no sweep runs before the test has prepared the run.
    await store.registry.heartbeat('p1');
    const result = await store.registry.start(store.scope, {
      threadId: 't',
      runId,
      messageId: 'm1',
      agent: 'echo',
      process: 'p1',
      busy: 'reject',
      pending: 'supersede',
    });
    return { store, owned: result as unknown as Ownership, agent, errors };
  }
  const logged: AgentEvent[] = [
    { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm1', at: 1 },
    { type: 'text-start', id: 'p' },
    { type: 'text-delta', id: 'p', delta: 'Half' },
  ];

  it('executes an orphan whose log is empty', async () => {
    const { agent, errors } = await loseStartReply('fresh');
    expect(await (await agent.attach('fresh'))!.message).toMatchObject({ status: 'complete' });
    expect(runs.filter((run) => run === 'fresh')).toHaveLength(1);
    expect(errors).toEqual([expect.stringContaining('It is executed now.')]);
  });

  it('ends an orphan whose log is not empty, with a reason', async () => {
    const { store, owned, agent, errors } = await loseStartReply('begun');
    await store.log.append([{ run: owned.run.key, epoch: 1, seq: 1, events: logged }]);
    const run = (await agent.attach('begun'))!;
    expect(await run.message).toMatchObject({ status: 'error', content: { parts: [{ text: 'Half' }] } });
    expect(await run.record()).toMatchObject({
      outcome: { error: { code: 'lost', message: expect.stringContaining('connection') } },
    });
    expect(runs).not.toContain('begun');
    expect(errors).toEqual([expect.stringContaining('It is ended now.')]);
  });

  it('ends an orphan that another process may have begun', async () => {
    const { store, owned, agent } = await loseStartReply('taken');
    await store.registry.stop(store.scope, owned.run.key, 'enough');
    await store.registry.fence(owned.run.key, 'p1', 0);
    const run = (await agent.attach('taken'))!;
    expect(await run.message).toMatchObject({ status: 'aborted' });
    expect(await run.record()).toMatchObject({ outcome: { outcome: 'aborted', reason: 'enough' } });
    expect(runs).not.toContain('taken');
  });
});
