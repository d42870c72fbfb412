import {
  createInMemoryStore,
  type AgentEvent,
  type AgentSource,
  type Fault,
  type RunRecord,
  type Store,
} from '@intertie/core';
import { expect, it, vi } from 'vitest';
import { readAll } from '../../../core/test/read-all.ts';
import { recordSpans } from '../../test/recording-tracer.ts';
import { unresponsiveSource } from '../../test/unresponsive-source.ts';
import { Agent } from '../agent/agent.ts';
import { createRunHost } from '../execution/run-host.ts';
import type { RunObserver } from './run-observer.ts';

type Observed = [name: string, value: { [key: string]: unknown }];

/** Creates an observer that records all values. */
function recording(): { observer: Required<RunObserver>; observed: Observed[] } {
  const observed: Observed[] = [];
  const record = (name: string) => (value: object) => void observed.push([name, { ...value }]);
  const observer: Required<RunObserver> = {
    firstEvent: record('firstEvent'),
    runEnded: record('runEnded'),
    takenOver: record('takenOver'),
    handedOver: record('handedOver'),
    refused: record('refused'),
    flushed: record('flushed'),
    delivered: record('delivered'),
  };
  return { observer, observed };
}

function named(observed: readonly Observed[], name: string): Array<Observed[1]> {
  return observed.filter(([each]) => each === name).map(([, value]) => value);
}

/** Sends one delta and the given end. */
function source(end: AgentEvent = { type: 'run-end', outcome: 'complete' }): AgentSource {
  return {
    name: 'greeter',
    pauses: 'replay',
    run: () =>
      new ReadableStream<AgentEvent>({
        start(controller) {
          controller.enqueue({ type: 'text-start', id: 'a' });
          controller.enqueue({ type: 'text-delta', id: 'a', delta: 'Hi' });
          controller.enqueue(end);
          controller.close();
        },
      }),
  };
}

it('reports the first event, flushes, deliveries and the end of a run', async () => {
  const { observer, observed } = recording();
  const store = createInMemoryStore();
  const host = createRunHost(store, { tickMs: 2, observer });
  const agent = new Agent({ name: 'greeter', source: source(), store, host });
  await agent.generate({ threadId: 't', message: 'Go' });
  await vi.waitFor(() => expect(named(observed, 'runEnded')).toEqual([{ agent: 'greeter', result: 'complete' }]));
  expect(named(observed, 'firstEvent')).toEqual([{ agent: 'greeter', ms: expect.any(Number) as unknown }]);
  expect(named(observed, 'flushed')[0]).toEqual({ ms: expect.any(Number) as unknown, runs: 1, failed: false });
  expect(named(observed, 'delivered').length).toBeGreaterThan(0);
  await host.close();
});

it('reports runs that fail and runs that are stopped', async () => {
  const { observer, observed } = recording();
  const store = createInMemoryStore();
  const host = createRunHost(store, { tickMs: 2, observer });
  const failing = new Agent({
    name: 'failing',
    source: source({ type: 'run-end', outcome: 'error', error: { message: 'no' } }),
    store,
    host,
  });
  const unresponsive = new Agent({ name: 'unresponsive', source: unresponsiveSource, store, host });
  await failing.generate({ threadId: 'failing', message: 'Go' });
  const run = await unresponsive.stream({ threadId: 'unresponsive', message: 'Go' });
  await run.stop();
  await vi.waitFor(() => expect(named(observed, 'runEnded').length).toBe(2), { timeout: 10_000 });
  expect(named(observed, 'runEnded')).toEqual([
    { agent: 'failing', result: 'error' },
    { agent: 'unresponsive', result: 'aborted' },
  ]);
  await host.close();
});

it('reports flushes that fail', async () => {
  const { observer, observed } = recording();
  const store = createInMemoryStore();
  const append = store.log.append.bind(store.log);
  vi.spyOn(store.log, 'append').mockRejectedValueOnce(new Error('away')).mockImplementation(append);
  const host = createRunHost(store, { tickMs: 2, observer });
  const agent = new Agent({ name: 'greeter', source: source(), store, host });
  await agent.generate({ threadId: 't', message: 'Go' });
  expect(named(observed, 'flushed')[0]).toMatchObject({ runs: 1, failed: true });
  await host.close();
});

it('reports a run that it takes over from a dead process, once', async () => {
  const { observer, observed } = recording();
  const store: Store = createInMemoryStore({ leaseMs: 20 });
  const dead = createRunHost(store, { process: 'dead', heartbeatMs: 60_000, sweepMs: 60_000 });
  await new Agent({ name: 'unresponsive', source: unresponsiveSource, store, host: dead }).stream({
    threadId: 't',
    message: 'Go',
  });
  const onRunError = vi.fn<(run: RunRecord, error: Fault) => void>();
  const host = createRunHost(store, { process: 'alive', heartbeatMs: 5, sweepMs: 5, observer, onRunError });
  const agent = new Agent({ name: 'unresponsive', source: unresponsiveSource, store, host });
  await agent.history({ threadId: 't' });
  await host.open();
  await vi.waitFor(() => expect(named(observed, 'takenOver')).toEqual([{ agent: 'unresponsive' }]), {
    timeout: 10_000,
  });
  expect(named(observed, 'runEnded')).toEqual([{ agent: 'unresponsive', result: 'lost' }]);
  expect(onRunError.mock.calls).toMatchObject([[{ agent: 'unresponsive' }, { code: 'lost' }]]);
  await Promise.all([host.close(), dead.close()]);
});

it('reports a run as lost if its source cannot continue it', async () => {
  const { observer, observed } = recording();
  const host = createRunHost(createInMemoryStore(), { observer });
  const error = { code: 'lost', message: 'The agent does not keep its runs.' };
  const agent = new Agent({ source: source({ type: 'run-end', outcome: 'error', error }), store: host.store, host });
  await agent.generate({ threadId: 't', message: 'Go' }).catch(() => undefined);
  await host.close();
  expect(named(observed, 'runEnded')).toMatchObject([{ result: 'lost' }]);
});

it('reports a run that it continues for a dead process, with a span event and a notice', async () => {
  const spans = recordSpans();
  const { observer, observed } = recording();
  const store: Store = createInMemoryStore({ leaseMs: 20 });
  const end: AgentEvent = { type: 'run-end', outcome: 'complete' };
  const resume = (): ReadableStream<AgentEvent> => new ReadableStream({ start: (events) => events.enqueue(end) });
  const resumable = { ...unresponsiveSource, resume };
  const dead = createRunHost(store, { process: 'dead', heartbeatMs: 60_000, sweepMs: 60_000 });
  const run = await new Agent({ name: 'left', source: resumable, store, host: dead }).stream({
    threadId: 't',
    message: 'Go',
  });
  const first = run.follow().getReader();
  await first.read();
  await first.cancel();
  const host = createRunHost(store, { process: 'alive', heartbeatMs: 5, sweepMs: 5, observer });
  const agent = new Agent({ name: 'left', source: resumable, store, host });
  await host.open();
  await vi.waitFor(() => expect(named(observed, 'runEnded')).toEqual([{ agent: 'left', result: 'complete' }]), {
    timeout: 10_000,
  });
  expect(named(observed, 'takenOver')).toEqual([{ agent: 'left' }]);
  const { events } = spans.findLast(({ name }) => name === 'invoke_agent left')!;
  expect(events).toEqual([{ name: 'intertie.takeover', attributes: { 'intertie.epoch': 2 } }]);
  const followed = await readAll((await agent.latest({ threadId: 't' }))!.follow());
  expect(followed.flatMap((item) => (item.type === 'events' ? item.events : []))).toContainEqual(
    expect.objectContaining({ type: 'notice', code: 'recovered', data: { epoch: 2, attempts: 2 } }),
  );
  await Promise.all([host.close(), dead.close()]);
});

it('continues the run when the observer throws, and reports the error', async () => {
  const onError = vi.fn<(error: unknown) => void>();
  const store = createInMemoryStore();
  const broken = (): never => {
    throw new Error('broken observer');
  };
  const observer = { firstEvent: broken, runEnded: broken, flushed: broken, delivered: broken };
  const host = createRunHost(store, { tickMs: 2, observer, onError });
  const agent = new Agent({ name: 'greeter', source: source(), store, host });
  expect((await agent.generate({ threadId: 't', message: 'Go' })).text).toBe('Hi');
  expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: 'broken observer' }));
  await host.close();
});

it('refuses new runs at maxRuns, and accepts stops, answers and reads', async () => {
  const { observer, observed } = recording();
  const store = createInMemoryStore();
  const host = createRunHost(store, { tickMs: 2, maxRuns: 1, observer });
  const agent = new Agent({ name: 'unresponsive', source: unresponsiveSource, store, host });
  const run = await agent.stream({ threadId: 'a', message: 'Go' });
  expect(host.running).toBe(1);
  const refused = agent.start({ threadId: 'b', message: { content: { format: 2, parts: [] } } });
  await expect(refused).rejects.toMatchObject({ code: 'overloaded', status: 503, retryAfter: 5 });
  expect(await store.getThreadById({ threadId: 'b' })).toBeNull();
  expect(named(observed, 'refused')).toEqual([{ agent: 'unresponsive' }]);
  expect(await agent.attach(run.runId)).not.toBeNull();
  await run.stop();
  await vi.waitFor(() => expect(host.running).toBe(0), { timeout: 10_000 });
  await (await agent.stream({ threadId: 'b', message: 'Go' })).stop();
  await host.close();
});

it('refuses new runs while isOverloaded returns true', async () => {
  let isOverloaded = true;
  const store = createInMemoryStore();
  const host = createRunHost(store, { tickMs: 2, isOverloaded: () => isOverloaded });
  const agent = new Agent({ name: 'greeter', source: source(), store, host });
  await expect(agent.generate({ threadId: 't', message: 'Go' })).rejects.toMatchObject({ code: 'overloaded' });
  isOverloaded = false;
  expect((await agent.generate({ threadId: 't', message: 'Go' })).text).toBe('Hi');
  await host.close();
});

it('reports error notices of a run that continues, with its id', async () => {
  const store = createInMemoryStore();
  const errors: string[] = [];
  const host = createRunHost(store, { onError: (error) => void errors.push((error as Error).message) });
  const notice: AgentEvent = { type: 'notice', level: 'error', message: 'Rate limit of key sk-secret.' };
  const noticing: AgentSource = {
    name: 'noticing',
    pauses: 'replay',
    run: () =>
      new ReadableStream<AgentEvent>({
        start(controller) {
          controller.enqueue(notice);
          controller.enqueue({ type: 'run-end', outcome: 'complete' });
          controller.close();
        },
      }),
  };
  const agent = new Agent({ name: 'noticing', source: noticing, store, host });
  const { runId } = await agent.generate({ threadId: 't', message: 'Go' });
  expect(errors).toEqual([`Run "${runId}": Rate limit of key sk-secret.`]);
  await host.close();
});
