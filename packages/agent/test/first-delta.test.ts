import { createInMemoryStore, seal, sourceStream, type AgentEvent, type AgentSource } from '@intertie/core';
import { expect, it, onTestFinished, vi } from 'vitest';

import { collect, gate, joinText, openTestStore } from './test-stores.ts';
import { Agent } from '../src/agent/agent.ts';
import { createRunHost } from '../src/execution/run-host.ts';

const greeter = (mayEnd: Promise<void>): AgentSource => ({
  name: 'greeter',
  pauses: 'replay',
  run: (run, { signal }) =>
    sourceStream(
      async function* (): AsyncGenerator<AgentEvent> {
        yield { type: 'text-start', id: 'a' };
        yield { type: 'text-delta', id: 'a', delta: 'Hello' };
        await mayEnd;
        yield { type: 'text-delta', id: 'a', delta: ' there' };
        yield { type: 'run-end', outcome: 'complete' };
      },
      seal(run, () => undefined),
      { signal },
    ),
});

it('reads neither messages nor thread nor log when a run starts a new thread', async () => {
  const store = createInMemoryStore();
  const host = createRunHost(store);
  onTestFinished(() => host.close());
  const reads = [
    vi.spyOn(store.log, 'read'),
    vi.spyOn(store, 'listMessages'),
    vi.spyOn(store, 'getThreadById'),
    vi.spyOn(store, 'saveThread'),
  ];
  vi.spyOn(store, 'forScope').mockReturnValue(store);
  const agent = new Agent({ name: 'helper', source: greeter(Promise.resolve()), store, host });
  const run = await agent.stream({ threadId: 't', message: 'What is it?' });
  expect(joinText(await collect(run.events))).toBe('Hello there');
  expect(reads.map((read) => read.mock.calls.length)).toEqual([0, 0, 0, 0]);
  expect(await store.getThreadById({ threadId: 't' })).toMatchObject({
    title: 'What is it?',
    metadata: { agent: 'helper' },
  });
});

it('sends the history to the source without another read after the start', async () => {
  const { store, host } = (await openTestStore('PGlite')).process();
  const reads = vi.spyOn(store, 'listMessages');
  vi.spyOn(store, 'forScope').mockReturnValue(store);
  const source = greeter(Promise.resolve());
  const run = vi.spyOn(source, 'run');
  const agent = new Agent({ name: 'helper', source, store, host, history: { maxMessages: 3 } });
  for (const message of ['One', 'Two', 'Three']) await agent.generate({ threadId: 't', message });
  expect(run.mock.calls.map(([{ history }]) => history.map(({ role }) => role))).toEqual([
    ['user'],
    ['user', 'assistant', 'user'],
    ['user', 'assistant', 'user'],
  ]);
  expect(reads).not.toHaveBeenCalled();
}, 60_000);

it('delivers the first delta of a run before the next flush tick', async () => {
  const store = createInMemoryStore();
  const host = createRunHost(store, { tickMs: 60_000 });
  onTestFinished(() => host.close());
  const mayEnd = gate();
  const agent = new Agent({ source: greeter(mayEnd.opened), store, host });
  for (const threadId of ['a', 'b', 'c']) {
    const { textStream } = await agent.stream({ threadId, message: 'Go' });
    for await (const delta of textStream) {
      expect(delta).toBe('Hello');
      break;
    }
  }
  mayEnd.open();
});

it('calls the source after the start is committed, and not at all for a refused start', async () => {
  const store = createInMemoryStore();
  const host = createRunHost(store);
  onTestFinished(() => host.close());
  const [mayCommit, mayEnd] = [gate(), gate()];
  const start = store.registry.start.bind(store.registry);
  const starts = vi.spyOn(store.registry, 'start').mockImplementation(async (...request) => {
    await mayCommit.opened;
    return start(...request);
  });
  const source = greeter(mayEnd.opened);
  const calls = vi.spyOn(source, 'run');
  const agent = new Agent({ source, store, host });
  const first = agent.start({
    threadId: 't',
    message: { content: { format: 2, parts: [{ type: 'text', text: 'One' }] } },
  });
  await vi.waitFor(() => expect(starts).toHaveBeenCalled());
  expect(calls).not.toHaveBeenCalled();
  mayCommit.open();
  await first;
  await expect(agent.stream({ threadId: 't', message: 'Two' })).rejects.toMatchObject({ code: 'busy' });
  mayEnd.open();
  expect(calls).toHaveBeenCalledOnce();
  expect(await store.listMessages({ threadId: 't' })).toHaveLength(2);
});
