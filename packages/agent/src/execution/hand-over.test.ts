import {
  compose,
  createInMemoryStore,
  seal,
  sourceStream,
  type AgentEvent,
  type AgentSource,
  type CanonicalMessage,
  type RunInput,
} from '@intertie/core';
import type { LanguageModel } from 'ai';
import { afterEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { call, finish, scriptedModel, text } from '../../../ai-sdk/test/scripted-model.ts';
import { steppedModel } from '../../test/stepped-model.ts';
import { gate, openTestStore } from '../../test/test-stores.ts';
import { Agent } from '../agent/agent.ts';
import { createRunHost, type RunHost } from './run-host.ts';

/** For a busy machine. */
const waitOptions = { timeout: 30_000 };
const hosts: RunHost[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

/** Opens a process that will leave and one that stays, with one model each and the same tool. */
async function openTwo(first: LanguageModel, second: LanguageModel, execute: () => Promise<string>) {
  const store = createInMemoryStore();
  const handedOver = vi.fn<(run: { agent: string }) => void>();
  const hostOptions = { sweepMs: 10, observer: { handedOver } };
  const [leaving, staying] = ['leaving', 'staying'].map((process) => createRunHost(store, { process, ...hostOptions }));
  hosts.push(leaving!, staying!);
  const tools = { act: { inputSchema: z.object({}), execute } };
  const options = { name: 'helper', tools, store, recover: 'step' } as const;
  const agent = new Agent({ ...options, model: first, host: leaving! });
  const other = new Agent({ ...options, model: second, host: staying! });
  await staying!.open();
  const getMessage = async (): Promise<CanonicalMessage> => {
    const { messages } = await other.history({ threadId: 't' });
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', status: 'complete' });
    return messages.at(-1)!;
  };
  return { agent, leaving: leaving!, handedOver, waitForMessage: () => vi.waitFor(getMessage, waitOptions) };
}

it('hands a run over at once if no tool runs, without waiting for the drain period', async () => {
  const first = steppedModel(async function* () {
    yield { type: 'text-start', id: '0' };
    yield { type: 'text-delta', id: '0', delta: 'Partial' };
    await new Promise(() => undefined);
  });
  const second = scriptedModel([...text('0', 'Complete'), finish()]);
  const { agent, leaving, handedOver, waitForMessage } = await openTwo(first, second, async () => 'ok');
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  for await (const event of run.events) if (event.type === 'text-delta') break;
  await leaving.close({ drainMs: 600_000 });
  expect(handedOver.mock.calls).toEqual([[{ agent: 'helper' }]]);
  const { content } = await waitForMessage();
  expect(content.parts).toMatchObject([{ type: 'text', text: 'Complete' }]);
  expect(Object.keys(content.steps!)).toHaveLength(1);
});

it('waits for a running tool and hands its result over', async () => {
  const first = scriptedModel([call('c1', 'act'), finish('tool-calls')], [...text('0', 'Wrong'), finish()]);
  const second = scriptedModel([...text('0', 'Done'), finish()]);
  let finishTool: (output: string) => void = () => undefined;
  const execute = vi.fn<() => Promise<string>>(() => new Promise((resolve) => void (finishTool = resolve)));
  const { agent, leaving, waitForMessage } = await openTwo(first, second, execute);
  await agent.stream({ threadId: 't', message: 'Go' });
  await vi.waitFor(() => expect(execute).toHaveBeenCalled(), waitOptions);
  let isClosed = false;
  const closed = leaving.close({ drainMs: 600_000 }).then(() => (isClosed = true));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isClosed).toBe(false);
  finishTool('paid');
  await closed;
  const { content } = await waitForMessage();
  expect(content.parts).toMatchObject([{ state: 'result', result: 'paid' }, { text: 'Done' }]);
  expect(Object.values(content.steps!)).toMatchObject([{ finishReason: 'tool-calls' }, { finishReason: 'stop' }]);
  expect(execute).toHaveBeenCalledOnce();
  expect(second.doStreamCalls).toHaveLength(1);
});

it('hands over a run whose tool takes longer than the drain period, and reports the call as interrupted', async () => {
  const first = scriptedModel([call('c1', 'act'), finish('tool-calls')]);
  const second = scriptedModel([...text('0', 'Sorry'), finish()]);
  const execute = vi.fn<() => Promise<string>>(() => new Promise(() => undefined));
  const { agent, leaving, waitForMessage } = await openTwo(first, second, execute);
  await agent.stream({ threadId: 't', message: 'Go' });
  await vi.waitFor(() => expect(execute).toHaveBeenCalled(), waitOptions);
  await leaving.close({ drainMs: 20 });
  const { content } = await waitForMessage();
  expect(content.parts).toMatchObject([{ state: 'error', error: { code: 'interrupted' } }, { text: 'Sorry' }]);
  expect(execute).toHaveBeenCalledOnce();
  expect(JSON.stringify(second.doStreamCalls[0]!.prompt)).toContain('not known');
});

it('does not hand over a run without `recover`: it drains and then ends as aborted', async () => {
  const store = createInMemoryStore();
  const [leaving, staying] = ['leaving', 'staying'].map((process) => createRunHost(store, { process, sweepMs: 10 }));
  hosts.push(leaving!, staying!);
  await staying!.open();
  const model = steppedModel(async function* () {
    yield { type: 'text-start', id: '0' };
    await new Promise(() => undefined);
  });
  const agent = new Agent({ name: 'helper', model, store, host: leaving! });
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  await leaving!.close({ drainMs: 20 });
  expect(await run.record()).toMatchObject({ state: 'aborted', outcome: { reason: 'shutdown' } });
});

/** Source of a remote task, which can be resumed after the checkpoint that it emits on `acceptTask`. */
function createRemoteSource() {
  const [accepted, finished] = [gate(), gate()];
  const stream = (input: RunInput, signal: AbortSignal): ReadableStream<AgentEvent> =>
    sourceStream(
      async function* (): AsyncGenerator<AgentEvent> {
        yield { type: 'checkpoint', token: { state: 'sent' } };
        yield { type: 'text-start', id: 'a' };
        const next = await Promise.race([
          accepted.opened.then(() => 'accepted'),
          finished.opened.then(() => 'finished'),
        ]);
        if (next === 'accepted') yield { type: 'checkpoint', token: { state: 'accepted' } };
        await finished.opened;
        yield { type: 'run-end', outcome: 'complete' };
      },
      seal(input, () => undefined),
      { signal },
    );
  const resume = vi.fn<NonNullable<AgentSource['resume']>>((input, { events }) =>
    sourceStream(
      () => new ReadableStream({ start: (controller) => controller.close() }),
      compose(
        { feed: () => undefined, end: (_, emit) => emit({ type: 'run-end', outcome: 'complete' }) },
        seal(input, () => undefined, { log: events }),
      ),
    ),
  );
  const source: AgentSource = {
    name: 'remote',
    pauses: 'token',
    run: (input, { signal }) => stream(input, signal),
    resume,
    canResume: (token) => (token as { state: string } | undefined)?.state === 'accepted',
  };
  return { source, resume, acceptTask: accepted.open, finishTask: finished.open };
}

/** Starts a run of a remote task on a process that leaves. Another process stays. */
async function startRemote() {
  const remote = createRemoteSource();
  const store = createInMemoryStore();
  const [leaving, staying] = ['leaving', 'staying'].map((process) => createRunHost(store, { process, sweepMs: 10 }));
  hosts.push(leaving!, staying!);
  const other = new Agent({ source: remote.source, store, host: staying! });
  await staying!.open();
  const agent = new Agent({ source: remote.source, store, host: leaving! });
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  for await (const { type } of run.events) if (type === 'text-start') break;
  return { ...remote, leaving: leaving!, run, other };
}

it('lets a run end in the drain period while its source may not be able to continue it', async () => {
  const { leaving, run, resume, finishTask } = await startRemote();
  const closed = leaving.close({ drainMs: 600_000 });
  finishTask();
  await closed;
  expect(await run.record()).toMatchObject({ state: 'complete' });
  expect(resume).not.toHaveBeenCalled();
});

it('ends a run that no process can continue as aborted after the drain period, instead of losing it', async () => {
  const { leaving, run, resume } = await startRemote();
  await leaving.close({ drainMs: 20 });
  expect(await run.record()).toMatchObject({ state: 'aborted', outcome: { reason: 'shutdown' } });
  expect(resume).not.toHaveBeenCalled();
});

it('hands a run over as soon as it has the checkpoint that its source needs', async () => {
  const { leaving, run, resume, acceptTask, other } = await startRemote();
  const closed = leaving.close({ drainMs: 600_000 });
  acceptTask();
  await closed;
  const continued = await other.attach(run.runId, { threadId: 't' });
  expect(await continued!.message).toMatchObject({ status: 'complete' });
  expect(resume).toHaveBeenCalledOnce();
});

it('releases a run at shutdown without another process, and the next process continues it', async () => {
  const { process } = await openTestStore('PGlite');
  const [stopped, started] = [process({ process: 'stopped' }), process({ process: 'started' })];
  const first = steppedModel(async function* () {
    yield { type: 'text-start', id: '0' };
    yield { type: 'text-delta', id: '0', delta: 'Partial' };
    await new Promise(() => undefined);
  });
  const second = scriptedModel([...text('0', 'Complete'), finish()]);
  const agent = new Agent({ name: 'helper', model: first, recover: 'step', ...stopped });
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  for await (const event of run.events) if (event.type === 'text-delta') break;
  await agent.close({ drainMs: 20 });
  expect(await run.record()).toMatchObject({ state: 'running' });
  const next = new Agent({ name: 'helper', model: second, recover: 'step', ...started });
  const continued = await next.attach(run.runId, { threadId: 't' });
  expect(await continued!.message).toMatchObject({ status: 'complete', content: { parts: [{ text: 'Complete' }] } });
}, 60_000);

it('continues a released run without waiting for the next sweep', async () => {
  const store = createInMemoryStore();
  const [leaving, staying] = ['leaving', 'staying'].map((process) =>
    createRunHost(store, { process, sweepMs: 600_000 }),
  );
  hosts.push(leaving!, staying!);
  const first = steppedModel(async function* () {
    yield { type: 'text-start', id: '0' };
    await new Promise(() => undefined);
  });
  const second = scriptedModel([...text('0', 'Complete'), finish()]);
  const options = { name: 'helper', store, recover: 'step' } as const;
  const agent = new Agent({ ...options, model: first, host: leaving! });
  const other = new Agent({ ...options, model: second, host: staying! });
  await staying!.open();
  const { runId } = await agent.stream({ threadId: 't', message: 'Go' });
  await leaving!.close();
  const run = await other.attach(runId, { threadId: 't' });
  expect(await run!.message).toMatchObject({ status: 'complete' });
});
