import {
  createInMemoryStore,
  DatabaseUnavailableError,
  seal,
  sourceStream,
  toReadableStream,
  type AgentEvent,
  type AgentSource,
  type Loss,
  type Store,
} from '@intertie/core';
import { copySealedMark, isHandOver } from '@intertie/core/internal';
import type { Appended } from '@intertie/core/store';
import { expect, it, onTestFinished } from 'vitest';

import { collect, gate, joinText } from '../../test/test-stores.ts';
import { Agent } from '../agent/agent.ts';
import { createRunHost } from './run-host.ts';

/** Creates a sealed source from a generator of events. */
function createSource(emit: () => AsyncGenerator<AgentEvent>): AgentSource {
  return {
    name: 'scripted',
    pauses: 'replay',
    run: (run, { signal }) =>
      sourceStream(
        emit,
        seal(run, () => undefined),
        { signal },
      ),
  };
}

const hello = async function* (): AsyncGenerator<AgentEvent> {
  yield { type: 'text-start', id: 'a' };
  yield { type: 'text-delta', id: 'a', delta: 'Hello' };
  yield { type: 'text-end', id: 'a' };
  yield { type: 'run-end', outcome: 'complete' };
};

function createAgent(store: Store, source: AgentSource) {
  const errors: unknown[] = [];
  const host = createRunHost(store, { onError: (error) => errors.push(error) });
  onTestFinished(() => host.close());
  return { errors, host, agent: new Agent({ source, store, host }) };
}

it('saves the complete message and ends with `log-lost` after the database lost commits', async () => {
  const store = createInMemoryStore();
  const append = store.log.append.bind(store.log);
  let isLost = false;
  store.log.append = async (batches): Promise<readonly Appended[]> =>
    isLost ? batches.map(() => 'regressed' as const) : append(batches);
  const proceed = gate();
  const source = createSource(async function* () {
    yield { type: 'text-start', id: 'a' };
    yield { type: 'text-delta', id: 'a', delta: 'Half' };
    await proceed.opened;
    yield { type: 'text-delta', id: 'a', delta: ' and half' };
    await new Promise(() => {});
  });
  const { agent } = createAgent(store, source);
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  for await (const event of run.events) if (event.type === 'text-delta') break;
  isLost = true;
  proceed.open();
  expect(await run.message).toMatchObject({ status: 'error', content: { parts: [{ text: 'Half and half' }] } });
  expect((await run.record()).outcome).toMatchObject({ error: { code: 'log-lost' } });
});

it('loses no events when the store fails temporarily', async () => {
  const store = createInMemoryStore();
  const append = store.log.append.bind(store.log);
  const finish = store.registry.finish.bind(store.registry);
  let failures = 0;
  const failTwice = (): void => {
    if (++failures % 3 !== 0) throw new Error('away');
  };
  store.log.append = async (batches) => {
    failTwice();
    return append(batches);
  };
  store.registry.finish = async (...args) => {
    failTwice();
    return finish(...args);
  };
  const { agent, errors } = createAgent(store, createSource(hello));
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  expect(joinText(await collect(run.events))).toBe('Hello');
  expect((await run.message).status).toBe('complete');
  expect(errors.length).toBeGreaterThan(0);
});

it('ends a run that cannot be prepared with an error, and frees the thread', async () => {
  const store = createInMemoryStore();
  // An existing thread, because the history of a new one is not read.
  await store.saveThread({ thread: { id: 't' } });
  const broken: Store = {
    ...store,
    forScope: (scope) => ({ ...store.forScope(scope), listMessages: () => Promise.reject(new Error('No history')) }),
  };
  const { agent } = createAgent(broken, createSource(hello));
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  expect((await collect(run.events)).at(-1)).toMatchObject({ outcome: 'error', error: { message: 'No history' } });
  expect(await store.registry.liveRun(store.scope, { threadId: 't' })).toBeNull();
});

it('waits for a database that is away while the run is prepared', async () => {
  const store = createInMemoryStore();
  await store.saveThread({ thread: { id: 't' } });
  let failures = 2;
  const away: Store = {
    ...store,
    forScope: (scope) => {
      const scoped = store.forScope(scope);
      const listMessages: Store['listMessages'] = (query) =>
        failures-- > 0 ? Promise.reject(new DatabaseUnavailableError()) : scoped.listMessages(query);
      return { ...scoped, listMessages };
    },
  };
  const { agent, errors } = createAgent(away, createSource(hello));
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  expect(joinText(await collect(run.events))).toBe('Hello');
  expect(errors).toContainEqual(new DatabaseUnavailableError());
});

it('ends a run as aborted if it is stopped while it waits for the database', async () => {
  const store = createInMemoryStore();
  let isAway = true;
  store.registry.openDecisions = () => Promise.reject(new DatabaseUnavailableError());
  const finish = store.registry.finish.bind(store.registry);
  store.registry.finish = async (...args) => {
    if (isAway) throw new DatabaseUnavailableError();
    return finish(...args);
  };
  const source = createSource(async function* () {
    yield { type: 'question', questionId: 'q', kind: 'input' };
    await new Promise(() => {});
  });
  const { agent, errors } = createAgent(store, source);
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  await expect.poll(() => errors.length).toBeGreaterThan(1);
  await run.stop();
  isAway = false;
  expect(await run.message).toMatchObject({ status: 'aborted' });
});

it.each([
  [
    'throws',
    () => {
      throw new Error('No');
    },
    'No',
  ],
  ['errors', () => new ReadableStream<AgentEvent>({ start: (own) => own.error(new Error('Broken')) }), 'Broken'],
  [
    'closes early',
    () => new ReadableStream<AgentEvent>({ start: (own) => own.close() }),
    'The stream ended before the run did.',
  ],
])('ends the run with an error if the source %s', async (_, run, message) => {
  const { agent } = createAgent(createInMemoryStore(), { name: 'bad', pauses: 'replay', run });
  const started = await agent.stream({ threadId: 't', message: 'Go' });
  const events = await collect(started.events);
  expect(events[0]).toMatchObject({ type: 'run-start', messageId: started.messageId });
  expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'error', error: { message } });
});

it('ends a run whose source ignores the stop', async () => {
  const { agent } = createAgent(createInMemoryStore(), {
    name: 'unresponsive',
    pauses: 'replay',
    run: () => new ReadableStream(),
  });
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  await run.stop();
  expect(await run.message).toMatchObject({ status: 'aborted' });
});

/** Starts a run that never ends, on a source that can continue it. `signal` is the one that the source received. */
async function startEndless() {
  const store = createInMemoryStore();
  let signal = new AbortController().signal;
  const run: AgentSource['run'] = (_, control) => {
    signal = control.signal;
    return new ReadableStream();
  };
  const resume: AgentSource['resume'] = (input, _, control) => run(input, control);
  const { agent, host } = createAgent(store, { name: 'endless', pauses: 'replay', run, resume });
  await agent.stream({ threadId: 't', message: 'Go' });
  return { store, host, signal: () => signal };
}

it('aborts the source as for a hand-over when another process has taken over the run', async () => {
  const { store, host, signal } = await startEndless();
  await store.registry.retire(host.process);
  expect(await store.registry.takeOver('other')).toHaveLength(1);
  await expect.poll(() => signal().aborted, { timeout: 5_000 }).toBe(true);
  expect(isHandOver(signal())).toBe(true);
});

it('aborts the source for good when the run was deleted', async () => {
  const { store, signal } = await startEndless();
  await store.deleteThread({ threadId: 't' });
  await expect.poll(() => signal().aborted, { timeout: 5_000 }).toBe(true);
  expect(isHandOver(signal())).toBe(false);
});

it('does not start a tool if another process has taken over the run while this one was blocked', async () => {
  const store = createInMemoryStore({ leaseMs: 100 });
  const [committed, awake] = [gate(), gate()];
  let isBlocked = false;
  const unlessBlocked =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (isBlocked) throw new Error('The event loop is blocked.');
      return call(...args);
    };
  store.registry.heartbeat = unlessBlocked(store.registry.heartbeat);
  store.log.positions = unlessBlocked(store.log.positions);
  const append = store.log.append.bind(store.log);
  store.log.append = async (batches) => {
    const verdicts = await append(batches);
    if (!batches.some(({ events }) => events.some(({ type }) => type === 'tool-call'))) return verdicts;
    isBlocked = true;
    committed.open();
    await awake.opened;
    return verdicts;
  };
  let tool: string | undefined;
  const run: AgentSource['run'] = (input, { barrier, signal }) => {
    const emit = async function* (): AsyncGenerator<AgentEvent> {
      yield { type: 'tool-call', toolCallId: 'c1', toolName: 'pay', input: {} };
      tool = await barrier('c1').then(
        () => 'started',
        () => 'refused',
      );
      yield { type: 'run-end', outcome: 'complete' };
    };
    return sourceStream(
      emit,
      seal(input, () => undefined),
      { signal },
    );
  };
  const { agent } = createAgent(store, { name: 'payer', pauses: 'replay', run });
  await agent.stream({ threadId: 't', message: 'Go' });
  await committed.opened;
  await expect.poll(() => store.registry.takeOver('other')).toHaveLength(1);
  isBlocked = false;
  awake.open();
  await expect.poll(() => tool).toBe('refused');
});

it('ends a queued run with `no-agent` if this process does not have its agent', async () => {
  const store = createInMemoryStore();
  const { host } = createAgent(store, createSource(hello));
  await host.open();
  const request = { threadId: 't', agent: 'unknown', process: 'gone', busy: 'queue', pending: 'supersede' } as const;
  await store.registry.start(store.scope, { ...request, runId: 'r1', messageId: 'm1' });
  const queued = await store.registry.start(store.scope, { ...request, runId: 'r2', messageId: 'm2' });
  expect(queued.type).toBe('queued');
  const [dead] = await store.registry.takeOver(host.process);
  await host.recover(dead!);
  await expect
    .poll(async () => (await store.registry.findRun(store.scope, { runId: 'r2' }))?.outcome)
    .toMatchObject({ error: { code: 'no-agent' } });
});

it('fails the streams of readers when the host closes, instead of closing them', async () => {
  const store = createInMemoryStore();
  const { agent } = createAgent(
    store,
    createSource(async function* () {
      await new Promise(() => {});
      yield { type: 'run-end', outcome: 'complete' };
    }),
  );
  const other = createAgent(store, createSource(hello));
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  const reading = collect((await other.agent.attach(run.runId))!.events);
  await Promise.all([expect(reading).rejects.toThrow('shutting down'), other.host.close()]);
});

it('ends as aborted if the source fails because of the stop', async () => {
  const run: AgentSource['run'] = (_, { signal }) =>
    new ReadableStream<AgentEvent>({
      start: (own) => signal.addEventListener('abort', () => own.error(new DOMException('Aborted', 'AbortError'))),
    });
  const { agent } = createAgent(createInMemoryStore(), { name: 'own', pauses: 'replay', run });
  const started = await agent.stream({ threadId: 't', message: 'Go' });
  await started.stop('enough');
  expect(await started.message).toMatchObject({ status: 'aborted' });
});

it('applies a stop during preparation to a source that ignores its signal', async () => {
  const store = createInMemoryStore();
  await store.saveThread({ thread: { id: 't' } });
  const prepared = gate();
  const slow: Store = {
    ...store,
    forScope: (scope) => {
      const own = store.forScope(scope);
      return { ...own, listMessages: (query) => prepared.opened.then(() => own.listMessages(query)) };
    },
  };
  const { agent } = createAgent(slow, { name: 'unresponsive', pauses: 'replay', run: () => new ReadableStream() });
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  await run.stop();
  setTimeout(prepared.open, 700);
  expect(await run.message).toMatchObject({ status: 'aborted' });
});

it('never starts a queued run that was itself replaced, and executes the newest', async () => {
  const texts: string[] = [];
  const source: AgentSource = {
    name: 'scripted',
    pauses: 'replay',
    run: (run, control) => {
      const request = run.history
        .at(-1)!
        .content.parts.map((part) => ('text' in part ? part.text : ''))
        .join('');
      texts.push(request);
      return request === 'A' ? new ReadableStream() : createSource(hello).run(run, control);
    },
  };
  const { agent } = createAgent(createInMemoryStore(), source);
  const send = (message: string) => agent.stream({ threadId: 't', message, busy: 'replace' });
  const a = await send('A');
  const [b, c] = await Promise.all([send('B'), send('C')]);
  expect((await c.message).status).toBe('complete');
  expect([(await a.record()).state, (await b.record()).state]).toEqual(['aborted', 'aborted']);
  expect(texts).toEqual(['A', 'C']);
});

it('reports an answer to an unknown question of a live run without waiting', async () => {
  const { agent } = createAgent(createInMemoryStore(), {
    name: 'unresponsive',
    pauses: 'replay',
    run: () => new ReadableStream(),
  });
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  const answered = await agent.answer(run.runId, [{ questionId: 'nope' }]);
  expect(answered).toEqual({ verdicts: [{ id: 'nope', result: 'unknown' }], open: [] });
});

it('leaves queued runs to other processes while closing', async () => {
  const store = createInMemoryStore();
  const proceed = gate();
  const source = createSource(async function* () {
    await proceed.opened;
    yield* hello();
  });
  const host = createRunHost(store, { sweepMs: 20 });
  const agent = new Agent({ source, store, host });
  await agent.stream({ threadId: 't', message: 'U' });
  const waiting = await agent.stream({ threadId: 't', message: 'V', busy: 'queue' });
  const closed = host.close({ drainMs: 500 });
  proceed.open();
  await closed;
  expect((await store.registry.findRun(store.scope, { runId: waiting.runId }))?.state).toBe('queued');
});

it.each([true, false])(
  'seals the events of a source only if its stream is not marked as sealed (marked: %s)',
  async (isMarked) => {
    const losses: Loss[] = [];
    const orphan: AgentEvent = { type: 'text-delta', id: 'unknown', delta: 'x' };
    const addOrphan = (event: AgentEvent): AgentEvent[] => (event.type === 'text-start' ? [event, orphan] : [event]);
    const source: AgentSource = {
      name: 'wrapped',
      pauses: 'replay',
      run: (run) => {
        const sealed = sourceStream(
          hello,
          seal(run, () => undefined),
        );
        const wrapper = new TransformStream<AgentEvent, AgentEvent>({
          transform: (event, controller) => addOrphan(event).forEach((each) => controller.enqueue(each)),
        });
        const events = sealed.pipeThrough(wrapper);
        if (isMarked) copySealedMark(sealed, events);
        return events;
      },
    };
    const store = createInMemoryStore();
    const host = createRunHost(store);
    onTestFinished(() => host.close());
    const agent = new Agent({ source, store, host, onLoss: (loss) => losses.push(loss) });
    const run = await agent.stream({ threadId: 't', message: 'Go' });
    const types = (await collect(run.events)).map(({ type }) => type);
    expect(types[0]).toBe('run-start');
    expect(types.filter((type) => type === 'run-end')).toHaveLength(1);
    // The seal drops a delta of an unknown part.
    expect(losses).toMatchObject(isMarked ? [] : [{ kind: 'repaired', id: 'unknown' }]);
  },
);

it('seals a custom source that emits no run-start and no run-end', async () => {
  const events = async function* (): AsyncGenerator<AgentEvent> {
    yield { type: 'text-start', id: 'a' };
    yield { type: 'text-delta', id: 'a', delta: 'Hello' };
  };
  const source: AgentSource = { name: 'bare', pauses: 'replay', run: () => toReadableStream(events()) };
  const { agent } = createAgent(createInMemoryStore(), source);
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  expect(await collect(run.events)).toMatchObject([
    { type: 'run-start', runId: run.runId },
    { type: 'text-start' },
    { type: 'text-delta' },
    { type: 'text-end' },
    { type: 'run-end', outcome: 'error', error: { code: 'truncated' } },
  ]);
});
