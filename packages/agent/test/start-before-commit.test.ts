import type { AgentEvent, Store } from '@intertie/core';
import type { StartRequest, StartResult } from '@intertie/core/store';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

import { call, finish, text } from '../../ai-sdk/test/scripted-model.ts';
import { Agent } from '../src/agent/agent.ts';
import { steppedModel } from './stepped-model.ts';
import { collect, gate, joinText, openTestStore, type StoreKind, type TestProcess } from './test-stores.ts';

type Start = (request: StartRequest) => Promise<StartResult>;

/** Replaces the start of runs in the store; `start` is the real one. */
function onStart({ store }: TestProcess, replace: (start: Start, request: StartRequest) => Promise<StartResult>): void {
  const { registry } = store;
  const start = registry.start.bind(registry);
  vi.spyOn(registry, 'start').mockImplementation((scope, request) => replace((each) => start(scope, each), request));
}

/** An agent whose model calls a tool and then answers, with what it did. */
function createAgent(process: TestProcess, options: { startBeforeCommit?: boolean } = { startBeforeCommit: true }) {
  const paid: string[] = [];
  const signals: AbortSignal[] = [];
  const prompts: number[] = [];
  const note = ({
    abortSignal,
    prompt,
  }: {
    abortSignal?: AbortSignal | undefined;
    prompt: readonly unknown[];
  }): void => {
    signals.push(abortSignal!);
    prompts.push(prompt.length);
  };
  const model = steppedModel(
    (request) => (note(request), [call('c1', 'pay', { to: 'ada' }), finish('tool-calls')]),
    (request) => (note(request), [...text('0', 'Done'), finish()]),
  );
  const pay = {
    inputSchema: z.object({ to: z.string() }),
    execute: async ({ to }: { to: string }) => {
      paid.push(to);
      return 'paid';
    },
  };
  const agent = new Agent({ name: 'payer', model, tools: { pay }, ...process, ...options });
  return { agent, paid, signals, prompts };
}

async function listAll(store: Store): Promise<unknown[]> {
  return collect(store.exportAll());
}

const kinds: StoreKind[] = ['memory', 'PGlite', 'Postgres'];

describe.each(kinds)('an agent that starts before the commit, on %s', { timeout: 60_000 }, (kind) => {
  const open = async (): Promise<TestProcess> => (await openTestStore(kind)).process();

  it('calls the model while the start is under way, and neither writes nor runs a tool before the commit', async () => {
    const process = await open();
    const commit = gate();
    onStart(process, async (start, request) => {
      await commit.opened;
      return start(request);
    });
    const append = vi.spyOn(process.store.log, 'append');
    const { agent, paid, signals } = createAgent(process);
    const started = agent.start({ threadId: 't', message: { content: toContent('Pay') } });
    await vi.waitFor(() => expect(signals).toHaveLength(1));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([append.mock.calls.length, paid, await listAll(process.store)]).toEqual([0, [], []]);
    commit.open();
    const run = await started;
    const events = (await collect(run.follow())).flatMap((item) => (item.type === 'events' ? item.events : []));
    expect(joinText(events)).toBe('Done');
    expect(events.map(({ type }) => type).filter((type) => type.startsWith('run-'))).toEqual(['run-start', 'run-end']);
    expect([paid, signals.length]).toEqual([['ada'], 2]);
  });

  it('calls the model once per step when the thread does not change', async () => {
    const process = await open();
    const { agent, prompts } = createAgent(process);
    await agent.generate({ threadId: 't', message: 'One' });
    await agent.generate({ threadId: 't', message: 'Two' });
    expect(prompts).toEqual([1, 3, 5]);
  });

  it('aborts the model and leaves nothing if the start is refused or fails', async () => {
    const process = await open();
    const { agent, paid, signals } = createAgent(process);
    const refuse = async (request: StartRequest): Promise<StartResult> => {
      await vi.waitFor(() => expect(signals).toHaveLength(1));
      if (request.runId === 'broken') throw new TypeError('The statement is broken.');
      return { type: 'refused', reason: 'not-found', what: 'thread' };
    };
    onStart(process, (_, request) => refuse(request));
    for (const [runId, reason] of [
      ['refused', 'The thread was not found'],
      ['broken', 'is broken'],
    ] as const) {
      signals.length = 0;
      await expect(agent.stream({ threadId: runId, runId, message: 'Pay' })).rejects.toThrow(reason);
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([paid, await listAll(process.store)]).toEqual([[], []]);
  });

  it('executes the run once if the reply to the start is lost', async () => {
    const process = await open();
    let isLost = false;
    onStart(process, async (start, request) => {
      const result = await start(request);
      if (isLost) return result;
      isLost = true;
      throw new Error('The connection is gone.');
    });
    const { agent, paid, prompts } = createAgent(process);
    expect(await agent.generate({ threadId: 't', message: 'Pay' })).toMatchObject({ text: 'Done' });
    expect([paid, prompts]).toEqual([['ada'], [1, 3]]);
  });

  it('calls the model again if the history has changed before the commit', async () => {
    const process = await open();
    const { agent, paid, signals, prompts } = createAgent(process);
    onStart(process, async (start, request) => {
      await vi.waitFor(() => expect(signals).toHaveLength(1));
      const content = toContent('In between');
      const message = { id: 'm', threadId: 't', role: 'user', type: 'text', createdAt: new Date(0), content } as const;
      await process.store.saveMessages({ messages: [message] });
      return start(request);
    });
    expect(await agent.generate({ threadId: 't', message: 'Pay' })).toMatchObject({ text: 'Done' });
    expect(signals[0]?.aborted).toBe(true);
    expect([paid, prompts]).toEqual([[], [1, 2]]);
  });

  it('does not call the model if the thread is busy or has the message already', async () => {
    const store = await openTestStore(kind);
    const [one, other] = [createAgent(store.process()), createAgent(store.process())];
    const mayEnd = gate();
    const model = steppedModel(async function* () {
      await mayEnd.opened;
      yield* text('0', 'Slow');
      yield finish();
    });
    const slow = new Agent({ name: 'payer', model, ...store.process() });
    const asked = { threadId: 't', message: { id: 'u', content: toContent('Pay') }, idempotencyKey: 'k' };
    const run = await slow.stream(asked);
    for (const { agent } of [one, other]) {
      await expect(agent.stream({ threadId: 't', message: 'Again' })).rejects.toMatchObject({ code: 'busy' });
      expect(await agent.stream(asked)).toMatchObject({ runId: run.runId });
    }
    mayEnd.open();
    await run.message;
    expect(await one.agent.stream(asked)).toMatchObject({ runId: run.runId });
    expect([...one.prompts, ...other.prompts]).toEqual([]);
  });

  it('calls the model once for two equal requests at the same time', async () => {
    const { agent, paid, prompts } = createAgent(await open());
    const asked = { threadId: 't', message: { id: 'u', content: toContent('Pay') }, idempotencyKey: 'k' };
    const runs = await Promise.all([agent.stream(asked), agent.stream(asked)]);
    await Promise.all(runs.map((run) => run.message));
    expect([paid, prompts]).toEqual([['ada'], [1, 3]]);
  });

  it('calls the model after the commit by default', async () => {
    const process = await open();
    const { agent, prompts } = createAgent(process, {});
    onStart(process, async () => ({ type: 'refused', reason: 'not-found', what: 'thread' }));
    await expect(agent.stream({ threadId: 't', message: 'Pay' })).rejects.toMatchObject({ code: 'not-found' });
    expect(prompts).toEqual([]);
  });
});

it('reads a bounded number of events before the start is committed', async () => {
  const process = (await openTestStore('memory')).process();
  const commit = gate();
  onStart(process, async (start, request) => {
    await commit.opened;
    return start(request);
  });
  let produced = 0;
  const source = {
    name: 'endless',
    pauses: 'replay' as const,
    run: () =>
      new ReadableStream<AgentEvent>(
        {
          pull(controller) {
            produced += 1;
            if (produced === 1) controller.enqueue({ type: 'text-start', id: 'a' });
            else if (produced <= 1_000) controller.enqueue({ type: 'text-delta', id: 'a', delta: '.' });
            else controller.close();
          },
        },
        { highWaterMark: 0 },
      ),
  };
  const agent = new Agent({ source, ...process, startBeforeCommit: true });
  const answer = agent.generate({ threadId: 't', message: 'Go' });
  await vi.waitFor(() => expect(produced).toBeGreaterThan(5));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(produced).toBeLessThan(30);
  commit.open();
  expect((await answer).text).toHaveLength(999);
});

function toContent(value: string): { format: 2; parts: Array<{ type: 'text'; text: string }> } {
  return { format: 2, parts: [{ type: 'text', text: value }] };
}
