import { createInMemoryStore, seal, sourceStream, type AgentEvent, type AgentSource } from '@intertie/core';
import { expect, it, onTestFinished, vi } from 'vitest';

import { collect, gate, saidIn } from './stage.ts';
import { Agent } from '../src/agent/agent.ts';
import { createRunHost } from '../src/execution/run-host.ts';

const talkative = (mayEnd: Promise<void>): AgentSource => ({
  name: 'talkative',
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

it('of a new thread nothing is read: neither its messages nor its name, nor the log by whoever started the run', async () => {
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
  const agent = new Agent({ name: 'helper', source: talkative(Promise.resolve()), store, host });
  const run = await agent.stream({ threadId: 't', message: 'What is it?' });
  expect(saidIn(await collect(run.events))).toBe('Hello there');
  expect(reads.map((read) => read.mock.calls.length)).toEqual([0, 0, 0, 0]);
  expect(await store.getThreadById({ threadId: 't' })).toMatchObject({
    title: 'What is it?',
    metadata: { agent: 'helper' },
  });
});

it('the first word of a run does not wait for the tick of others', async () => {
  const store = createInMemoryStore();
  const host = createRunHost(store, { tickMs: 60_000 });
  onTestFinished(() => host.close());
  const mayEnd = gate();
  const agent = new Agent({ source: talkative(mayEnd.opened), store, host });
  for (const threadId of ['a', 'b', 'c']) {
    const { textStream } = await agent.stream({ threadId, message: 'Go' });
    for await (const word of textStream) {
      expect(word).toBe('Hello');
      break;
    }
  }
  mayEnd.open();
});
