import { afterEach, describe, expect, it, vi } from 'vitest';

import type { End } from '../codec/codec.ts';
import type { AgentEvent } from '../event/event.ts';
import { createInMemoryStore } from '../store/in-memory/in-memory-store.ts';
import type { Store } from '../store/store.ts';
import type {
  DecisionRequest,
  FinishRequest,
  Ownership,
  Queued,
  RunRecord,
  Started,
  StartRequest,
} from '../store/registry.ts';
import type { RunKey } from '../store/run-log.ts';
import { createSweeper, type SweepResult } from './sweeper.ts';

afterEach(() => void vi.useRealTimers());

const nothing: SweepResult = { recovered: 0, promoted: 0, expired: 0, dropped: 0, deleted: 0, collected: 0 };

function request(name: string, rest: Partial<StartRequest> = {}): StartRequest {
  return {
    threadId: 't1',
    runId: name,
    agent: 'helper',
    process: 'p1',
    messageId: `a_${name}`,
    busy: 'queue',
    pending: 'supersede',
    ...rest,
  };
}

async function start(store: Store, name: string, rest: Partial<StartRequest> = {}): Promise<Started> {
  await store.registry.heartbeat('p1');
  return (await store.registry.start(store.scope, request(name, rest))) as Started;
}

function ending(rest: Partial<FinishRequest> = {}): FinishRequest {
  const outcome = rest.outcome ?? { outcome: 'complete' };
  return { nextSeq: 1, events: [], outcome, content: { format: 2, parts: [] }, ...rest };
}

async function readLog(store: Store, run: RunKey): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for (let position = { epoch: 0, seq: 0 }; ;) {
    const page = await store.log.read(run, position);
    events.push(...page.events);
    if (page.position.seq === page.tail) return events;
    position = page.position;
  }
}

const runStart = (name: string): AgentEvent => ({
  type: 'run-start',
  runId: name,
  threadId: 't1',
  messageId: `a_${name}`,
  at: 5,
});
const output: AgentEvent[] = [
  { type: 'text-start', id: 'p', at: 6 },
  { type: 'text-delta', id: 'p', delta: 'Half a sen' },
];
const lost = { code: 'lost', message: expect.stringContaining('is gone') as string };

describe('createSweeper: runs of a dead process', () => {
  it('ends a run as lost and keeps its output', async () => {
    const store = createInMemoryStore();
    const { run, epoch } = await start(store, 'r1');
    await store.log.append([{ run: run.key, epoch, seq: 1, events: [runStart('r1'), ...output] }]);
    await store.registry.retire('p1');
    const sweeper = createSweeper({ store, process: 'p2' });
    expect(await sweeper.sweep()).toEqual({ ...nothing, recovered: 1 });
    expect(await readLog(store, run.key)).toEqual([
      runStart('r1'),
      ...output,
      { type: 'text-end', id: 'p', at: 6 },
      { type: 'run-end', outcome: 'error', error: { code: 'lost', message: expect.any(String) }, at: 6 },
    ]);
    expect(await store.getMessage({ threadId: 't1', messageId: 'a_r1' })).toMatchObject({
      status: 'error',
      content: { parts: [{ type: 'text', text: 'Half a sen' }], runs: [{ runId: 'r1', outcome: 'error' }] },
    });
    expect(await store.registry.getRun(store.scope, run.key)).toMatchObject({ state: 'error' });
    expect(await sweeper.sweep()).toEqual(nothing);
  });

  it('reports how it ends a run', async () => {
    const store = createInMemoryStore();
    await start(store, 'r1');
    await store.registry.retire('p1');
    const stopped: End = { reason: 'aborted', by: 'user' };
    const onRecovered = vi.fn<(run: RunRecord, end?: End) => void>();
    await createSweeper({ store, process: 'p2', resumeRun: async () => stopped, onRecovered }).sweep();
    expect(onRecovered.mock.calls).toEqual([[expect.objectContaining({ runId: 'r1' }), stopped]]);
  });

  it('takes a run over once while the sweeper has no lease', async () => {
    const store = createInMemoryStore();
    await start(store, 'r1');
    await store.registry.retire('p1');
    const takeOver = vi.spyOn(store.registry, 'takeOver');
    expect(await createSweeper({ store, process: 'p2', limit: 1 }).sweep()).toEqual({ ...nothing, recovered: 1 });
    // One call finds the run, a second finds no more.
    expect(takeOver).toHaveBeenCalledTimes(2);
  });

  it('ends a run without output as lost', async () => {
    const store = createInMemoryStore();
    const { run } = await start(store, 'r1');
    await store.registry.retire('p1');
    await createSweeper({ store, process: 'p2' }).sweep();
    expect(await readLog(store, run.key)).toMatchObject([
      { type: 'run-start', runId: 'r1', messageId: 'a_r1' },
      { type: 'run-end', outcome: 'error', error: { code: 'lost' } },
    ]);
  });

  it('keeps an end that is already in the log', async () => {
    const store = createInMemoryStore();
    const { run, epoch } = await start(store, 'r1');
    const question = {
      questionId: 'q1',
      kind: 'input' as const,
      message: 'How many?',
      expiresAt: '2040-01-01T00:00:00Z',
    };
    const events: AgentEvent[] = [
      runStart('r1'),
      { type: 'question', ...question },
      {
        type: 'run-end',
        outcome: 'paused',
        waitingFor: [{ type: 'question', questionId: 'q1' }],
        usage: [{ model: 'm', outputTokens: 3 }],
        resume: { task: 1 },
      },
    ];
    await store.log.append([{ run: run.key, epoch, seq: 1, events }]);
    await store.registry.retire('p1');
    await createSweeper({ store, process: 'p2' }).sweep();
    expect(await readLog(store, run.key)).toEqual(events);
    expect(await store.registry.getRun(store.scope, run.key)).toMatchObject({
      state: 'paused',
      usage: [{ model: 'm', outputTokens: 3 }],
    });
    expect(await store.getMessage({ threadId: 't1', messageId: 'a_r1' })).toMatchObject({
      status: 'paused',
      sourceState: { task: 1 },
    });
    expect(await store.registry.listDecisions(store.scope, { state: 'open' })).toMatchObject([
      { id: 'q1', kind: 'input', question, expiresAt: new Date('2040-01-01T00:00:00Z') },
    ]);
  });

  it('keeps the earlier content of a continued message', async () => {
    const store = createInMemoryStore();
    const first = await start(store, 'r1');
    const call = { toolCallId: 'c1', toolName: 'locate' };
    const decision: DecisionRequest = { id: 'c1', kind: 'client-tool', ...call, input: {} };
    await store.registry.finish(
      first.run.key,
      1,
      ending({
        outcome: { outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'c1' }] },
        content: { format: 2, parts: [{ type: 'tool-invocation', ...call, state: 'call', args: {} }] },
        decisions: [decision],
      }),
    );
    const answered = await store.registry.answer(store.scope, first.run.key, {
      answers: [{ toolCallId: 'c1', status: 'ok', output: 7 }],
      continuation: { runId: 'r2', process: 'p1' },
    });
    const { key } = answered!.continuation!.run;
    await store.registry.retire('p1');
    await createSweeper({ store, process: 'p2' }).sweep();
    expect(await store.getMessage({ threadId: 't1', messageId: 'a_r1' })).toMatchObject({
      status: 'error',
      content: { parts: [{ toolCallId: 'c1', state: 'result', result: 7 }] },
    });
    expect(await readLog(store, key)).toMatchObject([
      { type: 'run-start', runId: 'r2', resumes: 'r1', messageId: 'a_r1' },
      { type: 'message-snapshot', content: { parts: [{ state: 'result' }] } },
      { type: 'run-end', outcome: 'error', error: lost },
    ]);
  });

  it('expires the decisions of a run that waited in its process', async () => {
    const store = createInMemoryStore();
    const { run, epoch } = await start(store, 'r1');
    const question = { questionId: 'q1', kind: 'input' as const };
    await store.log.append([
      { run: run.key, epoch, seq: 1, events: [runStart('r1'), { type: 'question', ...question }] },
    ]);
    await store.registry.openDecisions(run.key, epoch, [{ id: 'q1', kind: 'input', question }]);
    await store.registry.setWaiting(run.key, epoch, true);
    await store.registry.retire('p1');
    await createSweeper({ store, process: 'p2' }).sweep();
    expect(await store.registry.listDecisions(store.scope)).toMatchObject([{ id: 'q1', state: 'expired' }]);
  });

  it('ends a run in its own scope', async () => {
    const store = createInMemoryStore();
    const ada = store.forScope('ada');
    const { run, epoch } = await start(ada, 'r1');
    await ada.log.append([{ run: run.key, epoch, seq: 1, events: [runStart('r1'), ...output] }]);
    await store.registry.retire('p1');
    await createSweeper({ store, process: 'p2' }).sweep();
    expect(await ada.getMessage({ threadId: 't1', messageId: 'a_r1' })).toMatchObject({ status: 'error' });
  });

  it('retries a run that cannot be ended and ends the others', async () => {
    const store = createInMemoryStore();
    await start(store, 'r1');
    await start(store, 'r2', { threadId: 't2' });
    await store.registry.retire('p1');
    const errors: unknown[] = [];
    vi.spyOn(store.registry, 'finish').mockRejectedValueOnce(new Error('away'));
    const sweeper = createSweeper({ store, process: 'p2', onError: (error) => errors.push(error) });
    await store.registry.heartbeat('p2');
    expect((await sweeper.sweep()).recovered).toBe(1);
    expect(errors).toHaveLength(1);
    expect((await sweeper.sweep()).recovered).toBe(1);
  });

  it('ends each run once across several sweepers', async () => {
    const store = createInMemoryStore();
    for (let n = 0; n < 20; n++) await start(store, `r${n}`, { threadId: `t${n}` });
    await store.registry.retire('p1');
    const passes = await Promise.all(
      ['p2', 'p3', 'p4'].map(async (process) => {
        await store.registry.heartbeat(process);
        return createSweeper({ store, process }).sweep();
      }),
    );
    expect(passes.reduce((sum, { recovered }) => sum + recovered, 0)).toBe(20);
  });
});

it('starts a stranded queued run if startRun is given', async () => {
  const store = createInMemoryStore();
  const first = await start(store, 'r1');
  const queued = (await store.registry.start(store.scope, request('r2'))) as Queued;
  await store.registry.finish(first.run.key, 1, ending());
  expect(await createSweeper({ store, process: 'p2' }).sweep()).toEqual(nothing);
  const started: Ownership[] = [];
  const sweeper = createSweeper({ store, process: 'p2', startRun: (owned) => started.push(owned) });
  expect(await sweeper.sweep()).toEqual({ ...nothing, promoted: 1 });
  expect(started).toMatchObject([{ run: { key: queued.run.key, process: 'p2' }, epoch: 1 }]);
});

it('expires decisions and drops old logs', async () => {
  let now = 0;
  const store = createInMemoryStore({ now: () => now });
  const first = await start(store, 'r1');
  const question = { questionId: 'q1', kind: 'input' as const };
  await store.registry.finish(
    first.run.key,
    1,
    ending({
      outcome: { outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q1' }] },
      decisions: [{ id: 'q1', kind: 'input', question, expiresAt: new Date(1_000) }],
    }),
  );
  const sweeper = createSweeper({ store, process: 'p2', now: () => now, logRetentionMs: 5_000 });
  expect(await sweeper.sweep()).toEqual(nothing);
  now = 1_000;
  expect(await sweeper.sweep()).toEqual({ ...nothing, expired: 1 });
  now = 5_001;
  expect(await sweeper.sweep()).toEqual({ ...nothing, dropped: 1 });
  expect(await sweeper.sweep()).toEqual(nothing);
});

it('keeps the logs of recent runs even if its own clock is ahead', async () => {
  const store = createInMemoryStore({ now: () => 10 });
  const { run } = await start(store, 'r1');
  await store.registry.finish(run.key, 1, ending());
  const ahead = createSweeper({ store, process: 'p2', now: () => 60 * 60 * 1000, logRetentionMs: 5_000 });
  expect((await ahead.sweep()).dropped).toBe(0);
});

it('drops several batches of ended runs in one pass', async () => {
  const store = createInMemoryStore({ now: () => 0 });
  for (let n = 0; n < 5; n++) {
    const { run, epoch } = await start(store, `ended${n}`, { threadId: `e${n}` });
    await store.registry.finish(run.key, epoch, ending());
    await start(store, `left${n}`, { threadId: `l${n}` });
  }
  await store.registry.retire('p1');
  await store.registry.heartbeat('p2');
  // A negative retention time includes runs that end in this pass.
  const sweeper = createSweeper({ store, process: 'p2', logRetentionMs: -1, limit: 2 });
  // Runs that were taken over are ended before old logs are listed.
  expect(await sweeper.sweep()).toEqual({ ...nothing, recovered: 5, dropped: 10 });
});

it('collects unreferenced blobs once an hour', async () => {
  let now = 0;
  const store = createInMemoryStore({ now: () => now });
  const sweeper = createSweeper({ store, process: 'p2', now: () => now, blobRetentionMs: 1_000, limit: 2 });
  for (let n = 0; n < 3; n++) await store.blobs.put(store.scope, { data: new Uint8Array([n]) });
  expect((await sweeper.sweep()).collected).toBe(0);
  now = 30 * 60 * 1000;
  expect((await sweeper.sweep()).collected).toBe(0);
  now = 60 * 60 * 1000;
  expect((await sweeper.sweep()).collected).toBe(2);
  expect((await sweeper.sweep()).collected).toBe(1);
});

it('continues with other tasks if one fails', async () => {
  const store = createInMemoryStore({ now: () => 10 });
  const { run } = await start(store, 'r1');
  await store.registry.finish(run.key, 1, ending());
  vi.spyOn(store.registry, 'takeOver').mockRejectedValue(new Error('away'));
  vi.spyOn(store.registry, 'expire').mockRejectedValue(new Error('away'));
  const onError = vi.fn<(error: unknown) => void>();
  const sweeper = createSweeper({ store, process: 'p2', logRetentionMs: -1, onError });
  expect(await sweeper.sweep()).toEqual({ ...nothing, dropped: 1 });
  expect(onError).toHaveBeenCalledTimes(2);
});

it('sweeps at random intervals until it is stopped', async () => {
  vi.useFakeTimers();
  const store = createInMemoryStore();
  const takeOver = vi.spyOn(store.registry, 'takeOver');
  const dice = [0, 0.75];
  const sweeper = createSweeper({ store, process: 'p2', intervalMs: 1_000, random: () => dice.shift() ?? 0 });
  sweeper.start();
  sweeper.start();
  await vi.advanceTimersByTimeAsync(800);
  expect(takeOver).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1_099);
  expect(takeOver).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(takeOver).toHaveBeenCalledTimes(2);
  await sweeper.stop();
  expect(vi.getTimerCount()).toBe(0);
});
