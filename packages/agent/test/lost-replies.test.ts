import { toReadableStream, type AgentEvent, type AgentSource, type Store } from '@intertie/core';
import type { StartRequest } from '@intertie/core/store';
import { PostgresMemoryStore } from '@intertie/postgres';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

import { call, finish, scriptedModel, text } from '../../ai-sdk/test/scripted-model.ts';
import { connectPg } from '../../postgres/src/pg-database.ts';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { startFaultProxy, type FaultProxy, type StatementMatch } from '../../postgres/test/fault-proxy.ts';
import { Agent } from '../src/agent/agent.ts';
import { createRunHost, type RunHost, type RunHostOptions } from '../src/execution/run-host.ts';
import { unresponsiveSource } from './unresponsive-source.ts';
import { gate } from './test-stores.ts';

/** Statements that commit a change of ownership, including repeated calls. */
const commits = {
  start: 'seen as materialized',
  answer: commitAfter(/where resumes = \$3/),
  promote: commitAfter(/left join intertie\.run_live l on l\.run_id = r\.id\s+where l\.thread_id/),
  fence: /stop_requested_at <= now\(\)/,
  takeOver: /with dead as/,
};

function commitAfter(change: RegExp): StatementMatch {
  return (statement, earlier) => statement === 'commit' && earlier.some((each) => change.test(each));
}

type Node = { store: Store; host: RunHost; errors: string[] };
type TestStore = { proxy: FaultProxy; node: (options?: RunHostOptions) => Node };

/** Opens a database behind a proxy. `node` starts a process on it. */
async function openTestStore(): Promise<TestStore> {
  const proxy = await startFaultProxy(await newPostgresUrl());
  onTestFinished(() => proxy.close());
  return {
    proxy,
    node(options = {}) {
      const errors: string[] = [];
      const onError = (error: unknown): void => void errors.push(String(error));
      const store = PostgresMemoryStore.on(connectPg(proxy.url));
      const host = createRunHost(store, { sweepMs: 50, onError, ...options });
      onTestFinished(async () => {
        await host.close();
        await store.close();
      });
      return { store, host, errors };
    },
  };
}

/** Loses the next replies to a statement: the first one, or those to all retries too. */
function lose(proxy: FaultProxy, match: StatementMatch, times: 'once' | 'always'): void {
  for (let n = 0; n < (times === 'once' ? 1 : 100); n++) void proxy.once(match, { kind: 'drop-reply' });
}

function countingSource(): AgentSource & { runs: string[] } {
  const runs: string[] = [];
  const events: AgentEvent[] = [
    { type: 'text-start', id: 'a' },
    { type: 'text-delta', id: 'a', delta: 'Hi' },
    { type: 'run-end', outcome: 'complete' },
  ];
  return {
    name: 'counting',
    pauses: 'replay',
    runs,
    run({ runId }) {
      runs.push(runId);
      return new ReadableStream<AgentEvent>({
        start(controller) {
          for (const event of events) controller.enqueue(event);
          controller.close();
        },
      });
    },
  };
}

function payer(node: Node): { agent: Agent; paid: string[] } {
  const paid: string[] = [];
  const pay = {
    inputSchema: z.object({ to: z.string() }),
    needsApproval: true,
    execute: async ({ to }: { to: string }) => {
      paid.push(to);
      return 'paid';
    },
  };
  const model = scriptedModel(
    [call('c1', 'pay', { to: 'c1' }), finish('tool-calls')],
    [...text('0', 'Done'), finish()],
  );
  return {
    agent: new Agent({ name: 'payer', model, store: node.store, host: node.host, tools: { pay } }),
    paid,
  };
}

const asked = { threadId: 't', runId: 'r1', message: 'Go' };

describe('a start whose reply is lost', { timeout: 60_000 }, () => {
  it('repeats a start whose reply is lost, and executes the run once', async () => {
    const { proxy, node } = await openTestStore();
    const source = countingSource();
    const agent = new Agent({ source, ...node() });
    await agent.generate({ threadId: 'warm', message: 'Hi' });
    lose(proxy, commits.start, 'once');
    expect(await agent.generate({ threadId: 't', message: 'Go' })).toMatchObject({ text: 'Hi' });
    expect(source.runs).toHaveLength(2);
    expect(await agent.store.registry.listRuns(agent.store.scope, { threadId: 't' })).toHaveLength(1);
  });

  it('executes the run in a sweep if every retry fails, and lets a repeated request follow it', async () => {
    const { proxy, node } = await openTestStore();
    const source = countingSource();
    const { errors, ...at } = node();
    const agent = new Agent({ source, ...at });
    await at.host.open();
    lose(proxy, commits.start, 'always');
    await expect(agent.generate(asked)).rejects.toThrow('The database has not answered for 1 second.');
    proxy.clear();
    expect(await agent.generate(asked)).toMatchObject({ text: 'Hi', runId: 'r1' });
    expect(source.runs).toEqual(['r1']);
    expect(errors.filter((error) => error.includes('"r1"'))).toEqual([expect.stringContaining('executed now')]);
  });

  it('stops a run whose start was not acknowledged', async () => {
    const { proxy, node } = await openTestStore();
    const agent = new Agent({ source: unresponsiveSource, ...node() });
    await agent.generate({ threadId: 'warm', message: 'Hi', signal: AbortSignal.timeout(50) });
    lose(proxy, commits.start, 'always');
    await expect(agent.stream(asked)).rejects.toThrow('The database has not answered for 1 second.');
    proxy.clear();
    const run = await agent.stream(asked);
    expect(await run.stop('enough')).toBe('requested');
    expect(await run.message).toMatchObject({ status: 'aborted' });
  });

  it('does not execute a run twice if the reply is only slow', async () => {
    const { proxy, node } = await openTestStore();
    const source = countingSource();
    const { errors, ...at } = node({ sweepMs: 10 });
    const agent = new Agent({ source, ...at });
    await at.host.open();
    const delayed = proxy.once(commits.start, { kind: 'delay', ms: 1_000 });
    const generated = agent.generate(asked);
    // Committed, listed as owned by many sweeps, and not known to the process.
    await delayed;
    expect(await generated).toMatchObject({ text: 'Hi' });
    expect(source.runs).toEqual(['r1']);
    expect(errors).toEqual([]);
  });
});

describe('an answer whose reply is lost', { timeout: 60_000 }, () => {
  it.each(['once', 'always'] as const)(
    'runs the approved tool once if the reply to the answer is lost %s',
    async (times) => {
      const { proxy, node } = await openTestStore();
      const { agent, paid } = payer(node());
      const { message } = await agent.generate(asked);
      const [part] = message.content.parts;
      const { questionId } = (part as { approval: { questionId: string } }).approval;
      lose(proxy, commits.answer, times);
      const [answered] = await Promise.allSettled([agent.answer('r1', [{ questionId, approved: true }])]);
      expect(answered.status).toBe(times === 'once' ? 'fulfilled' : 'rejected');
      proxy.clear();
      const { run } = await agent.answer('r1', [{ questionId, approved: true }]);
      expect(await (await agent.attach(run!.runId))!.message).toMatchObject({ status: 'complete' });
      expect(paid).toEqual(['c1']);
    },
  );
});

describe('an end whose reply is lost', { timeout: 60_000 }, () => {
  it('executes the continuation once if the reply to the end is lost', async () => {
    const { proxy, node } = await openTestStore();
    const { opened, open } = gate();
    const counting = countingSource();
    async function* ask(): AsyncGenerator<AgentEvent> {
      yield { type: 'question', questionId: 'q', kind: 'input' };
      await opened;
      yield { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q' }] };
    }
    const source: AgentSource = {
      ...counting,
      run: (input, control) => (input.message ? counting.run(input, control) : toReadableStream(ask())),
    };
    const agent = new Agent({ source, ...node() });
    const run = await agent.stream(asked);
    for await (const event of run.events) if (event.type === 'question') break;
    const answered = agent.answer('r1', [{ questionId: 'q', value: 1 }]);
    await expect
      .poll(() => agent.store.registry.listDecisions(agent.store.scope))
      .toMatchObject([{ state: 'answered' }]);
    const dropped = proxy.once(commitAfter(/delete from intertie\.run_live/), { kind: 'drop-reply' });
    open();
    await dropped;
    const { run: next } = await answered;
    expect(await (await agent.attach(next!.runId))!.message).toMatchObject({ status: 'complete' });
    expect(counting.runs).toEqual([next!.runId]);
  });
});

describe('a promotion whose reply is lost', { timeout: 60_000 }, () => {
  it.each(['once', 'always'] as const)(
    'starts the queued run once if the reply to the promotion is lost %s',
    async (times) => {
      const { proxy, node } = await openTestStore();
      const { opened, open } = gate();
      const counting = countingSource();
      const source: AgentSource & { runs: string[] } = {
        ...counting,
        run(input, control) {
          const events = counting.run(input, control);
          if (input.runId !== 'r1') return events;
          return events.pipeThrough(
            new TransformStream({ transform: (event, out) => opened.then(() => out.enqueue(event)) }),
          );
        },
      };
      const agent = new Agent({ source, ...node() });
      const first = await agent.stream(asked);
      const second = await agent.stream({ ...asked, runId: 'r2', busy: 'queue' });
      lose(proxy, commits.promote, times);
      open();
      expect(await first.message).toMatchObject({ status: 'complete' });
      expect(await second.message).toMatchObject({ status: 'complete' });
      expect(source.runs).toEqual(['r1', 'r2']);
    },
  );
});

describe('a takeover whose reply is lost', { timeout: 60_000 }, () => {
  it('ends the runs of a dead process if the reply to the takeover is lost', async () => {
    const { proxy, node } = await openTestStore();
    const one = node({ process: 'dead', heartbeatMs: 1e6, sweepMs: 1e6 });
    const run = await new Agent({ source: unresponsiveSource, ...one }).stream(asked);
    const two = node({ sweepMs: 1e6 });
    expect(new Agent({ source: unresponsiveSource, ...two }).name).toBe('unresponsive');
    await two.host.open();
    await two.host.recoverDeadRuns();
    await one.store.registry.retire('dead');
    lose(proxy, commits.takeOver, 'once');
    // The next sweep repeats the call.
    await two.host.recoverDeadRuns();
    expect(await run.record()).toMatchObject({ state: 'running', process: two.host.process });
    await two.host.recoverDeadRuns();
    expect(await run.record()).toMatchObject({ state: 'error', outcome: { error: { code: 'lost' } } });
  });

  it('starts the run that a new message has queued behind the run of a dead process', async () => {
    const { proxy, node } = await openTestStore();
    const one = node({ process: 'dead', heartbeatMs: 1e6, sweepMs: 1e6 });
    const lost = await new Agent({ source: unresponsiveSource, ...one }).stream(asked);
    const two = node({ sweepMs: 1e6 });
    const source = { ...countingSource(), name: 'unresponsive' };
    const agent = new Agent({ source, ...two });
    await two.host.open();
    await two.host.recoverDeadRuns();
    const dropped = proxy.once(commitAfter(/set epoch = epoch \+ 1/), { kind: 'drop-reply' });
    await one.store.registry.retire('dead');
    expect(await agent.generate({ ...asked, runId: 'r2' })).toMatchObject({ text: 'Hi' });
    await dropped;
    expect(await lost.record()).toMatchObject({ state: 'error', outcome: { error: { code: 'lost' } } });
  });
});

describe('a fence whose reply is lost', { timeout: 60_000 }, () => {
  it.each(['once', 'always'] as const)(
    'ends the silent run and starts its replacement if the reply to the fence is lost %s',
    async (times) => {
      const { proxy, node } = await openTestStore();
      const two = node({ replaceSilenceMs: 100 });
      await two.store.registry.heartbeat('silent');
      const start: StartRequest = {
        threadId: 't',
        runId: 'r1',
        messageId: 'm1',
        agent: 'counting',
        process: 'silent',
        busy: 'reject',
        pending: 'supersede',
      };
      await two.store.registry.start(two.store.scope, start);
      const agent = new Agent({ source: countingSource(), ...two });
      lose(proxy, commits.fence, times);
      expect(await agent.generate({ ...asked, runId: 'r2', busy: 'replace' })).toMatchObject({ text: 'Hi' });
      expect(await two.store.registry.findRun(two.store.scope, { runId: 'r1' })).toMatchObject({
        state: 'aborted',
        outcome: { reason: 'replaced' },
      });
    },
  );
});
