import {
  createInMemoryStore,
  DatabaseAwayError,
  seal,
  sourceStream,
  toReadableStream,
  type AgentEvent,
  type AgentSource,
  type Loss,
  type Store,
} from '@intertie/core';
import { copySealedMark } from '@intertie/core/internal';
import type { Appended } from '@intertie/core/store';
import { expect, it, onTestFinished } from 'vitest';

import { collect, gate, saidIn } from '../../test/stage.ts';
import { Agent } from '../agent/agent.ts';
import { createRunHost } from './run-host.ts';

/** A source that says what it is told to, and waits where a test wants it to. */
function sourceOf(say: () => AsyncGenerator<AgentEvent>): AgentSource {
  return {
    name: 'told',
    pauses: 'replay',
    run: (run, { signal }) =>
      sourceStream(
        say,
        seal(run, () => undefined),
        { signal },
      ),
  };
}

const words = async function* (): AsyncGenerator<AgentEvent> {
  yield { type: 'text-start', id: 'a' };
  yield { type: 'text-delta', id: 'a', delta: 'Hello' };
  yield { type: 'text-end', id: 'a' };
  yield { type: 'run-end', outcome: 'complete' };
};

function hosted(store: Store, source: AgentSource) {
  const errors: unknown[] = [];
  const host = createRunHost(store, { onError: (error) => errors.push(error) });
  onTestFinished(() => host.close());
  return { errors, host, agent: new Agent({ source, store, host }) };
}

it('a database that lost commits: the message is whole, and the run says what happened', async () => {
  const store = createInMemoryStore();
  const append = store.log.append.bind(store.log);
  let isLost = false;
  store.log.append = async (batches): Promise<readonly Appended[]> =>
    isLost ? batches.map(() => 'regressed' as const) : append(batches);
  const goOn = gate();
  const source = sourceOf(async function* () {
    yield { type: 'text-start', id: 'a' };
    yield { type: 'text-delta', id: 'a', delta: 'Half' };
    await goOn.opened;
    yield { type: 'text-delta', id: 'a', delta: ' and half' };
    await new Promise(() => {});
  });
  const { agent } = hosted(store, source);
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  for await (const event of run.events) if (event.type === 'text-delta') break;
  isLost = true;
  goOn.open();
  expect(await run.message).toMatchObject({ status: 'error', content: { parts: [{ text: 'Half and half' }] } });
  expect((await run.record()).outcome).toMatchObject({ error: { code: 'log-lost' } });
});

it('a store that fails for a moment delays, and loses nothing', async () => {
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
  const { agent, errors } = hosted(store, sourceOf(words));
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  expect(saidIn(await collect(run.events))).toBe('Hello');
  expect((await run.message).status).toBe('complete');
  expect(errors.length).toBeGreaterThan(0);
});

it('a run that cannot begin ends as an error, and the thread is free', async () => {
  const store = createInMemoryStore();
  // Of a thread that is new there is nothing to read.
  await store.saveThread({ thread: { id: 't' } });
  const broken: Store = {
    ...store,
    forScope: (scope) => ({ ...store.forScope(scope), listMessages: () => Promise.reject(new Error('No history')) }),
  };
  const { agent } = hosted(broken, sourceOf(words));
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
        failures-- > 0 ? Promise.reject(new DatabaseAwayError()) : scoped.listMessages(query);
      return { ...scoped, listMessages };
    },
  };
  const { agent, errors } = hosted(away, sourceOf(words));
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  expect(saidIn(await collect(run.events))).toBe('Hello');
  expect(errors).toContainEqual(new DatabaseAwayError());
});

it('ends a run as aborted if it is stopped while it waits for the database', async () => {
  const store = createInMemoryStore();
  let isAway = true;
  store.registry.ask = () => Promise.reject(new DatabaseAwayError());
  const finish = store.registry.finish.bind(store.registry);
  store.registry.finish = async (...args) => {
    if (isAway) throw new DatabaseAwayError();
    return finish(...args);
  };
  const source = sourceOf(async function* () {
    yield { type: 'question', questionId: 'q', kind: 'input' };
    await new Promise(() => {});
  });
  const { agent, errors } = hosted(store, source);
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
    'just ends',
    () => new ReadableStream<AgentEvent>({ start: (own) => own.close() }),
    'The stream ended before the run did.',
  ],
])('a source that %s: the run has an end all the same', async (_, run, message) => {
  const { agent } = hosted(createInMemoryStore(), { name: 'bad', pauses: 'replay', run });
  const started = await agent.stream({ threadId: 't', message: 'Go' });
  const events = await collect(started.events);
  expect(events[0]).toMatchObject({ type: 'run-start', messageId: started.messageId });
  expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'error', error: { message } });
});

it('a source that does not listen to the stop is ended without its last words', async () => {
  const { agent } = hosted(createInMemoryStore(), { name: 'deaf', pauses: 'replay', run: () => new ReadableStream() });
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  await run.stop();
  expect(await run.message).toMatchObject({ status: 'aborted' });
});

it('a queued run of an agent that nobody has here is ended, and says so', async () => {
  const store = createInMemoryStore();
  const { host } = hosted(store, sourceOf(words));
  await host.open();
  const request = { threadId: 't', agent: 'stranger', process: 'gone', busy: 'queue', pending: 'supersede' } as const;
  await store.registry.start(store.scope, { ...request, runId: 'r1', messageId: 'm1' });
  const queued = await store.registry.start(store.scope, { ...request, runId: 'r2', messageId: 'm2' });
  expect(queued.type).toBe('queued');
  const [dead] = await store.registry.takeOver(host.process);
  await host.recover(dead!);
  await expect
    .poll(async () => (await store.registry.findRun(store.scope, { runId: 'r2' }))?.outcome)
    .toMatchObject({ error: { code: 'no-agent' } });
});

it('readers are cut off with an error when the process goes, and not told that the run has ended', async () => {
  const store = createInMemoryStore();
  const { agent } = hosted(
    store,
    sourceOf(async function* () {
      await new Promise(() => {});
      yield { type: 'run-end', outcome: 'complete' };
    }),
  );
  const other = hosted(store, sourceOf(words));
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  const reading = collect((await other.agent.attach(run.runId))!.events);
  await Promise.all([expect(reading).rejects.toThrow('shut down'), other.host.close()]);
});

it('a source that errors because it was stopped has been stopped, and did not fail', async () => {
  const run: AgentSource['run'] = (_, { signal }) =>
    new ReadableStream<AgentEvent>({
      start: (own) => signal.addEventListener('abort', () => own.error(new DOMException('Aborted', 'AbortError'))),
    });
  const { agent } = hosted(createInMemoryStore(), { name: 'own', pauses: 'replay', run });
  const started = await agent.stream({ threadId: 't', message: 'Go' });
  await started.stop('enough');
  expect(await started.message).toMatchObject({ status: 'aborted' });
});

it('a stop while the run is being prepared reaches a source that does not look at its signal', async () => {
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
  const { agent } = hosted(slow, { name: 'deaf', pauses: 'replay', run: () => new ReadableStream() });
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  await run.stop();
  setTimeout(prepared.open, 700);
  expect(await run.message).toMatchObject({ status: 'aborted' });
});

it('replaced twice: what only waited never begins, and the newest runs', async () => {
  const asked: string[] = [];
  const source: AgentSource = {
    name: 'told',
    pauses: 'replay',
    run: (run, control) => {
      const said = run.history
        .at(-1)!
        .content.parts.map((part) => ('text' in part ? part.text : ''))
        .join('');
      asked.push(said);
      return said === 'A' ? new ReadableStream() : sourceOf(words).run(run, control);
    },
  };
  const { agent } = hosted(createInMemoryStore(), source);
  const say = (message: string) => agent.stream({ threadId: 't', message, busy: 'replace' });
  const a = await say('A');
  const [b, c] = await Promise.all([say('B'), say('C')]);
  expect((await c.message).status).toBe('complete');
  expect([(await a.record()).state, (await b.record()).state]).toEqual(['aborted', 'aborted']);
  expect(asked).toEqual(['A', 'C']);
});

it('an answer to nothing that a live run has asked is told so at once', async () => {
  const { agent } = hosted(createInMemoryStore(), { name: 'deaf', pauses: 'replay', run: () => new ReadableStream() });
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  const answered = await agent.answer(run.runId, [{ questionId: 'nope' }]);
  expect(answered).toEqual({ verdicts: [{ id: 'nope', result: 'unknown' }], open: [] });
});

it('a process that is leaving starts nothing that waited, so that another one can', async () => {
  const store = createInMemoryStore();
  const goOn = gate();
  const source = sourceOf(async function* () {
    await goOn.opened;
    yield* words();
  });
  const host = createRunHost(store, { sweepMs: 20 });
  const agent = new Agent({ source, store, host });
  await agent.stream({ threadId: 't', message: 'U' });
  const waiting = await agent.stream({ threadId: 't', message: 'V', busy: 'queue' });
  const closed = host.close({ drainMs: 500 });
  goOn.open();
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
          words,
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

it('seals a custom source that frames nothing itself', async () => {
  const events = async function* (): AsyncGenerator<AgentEvent> {
    yield { type: 'text-start', id: 'a' };
    yield { type: 'text-delta', id: 'a', delta: 'Hello' };
  };
  const source: AgentSource = { name: 'bare', pauses: 'replay', run: () => toReadableStream(events()) };
  const { agent } = hosted(createInMemoryStore(), source);
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  expect(await collect(run.events)).toMatchObject([
    { type: 'run-start', runId: run.runId },
    { type: 'text-start' },
    { type: 'text-delta' },
    { type: 'text-end' },
    { type: 'run-end', outcome: 'error', error: { code: 'truncated' } },
  ]);
});
