import { canonical, check } from '@intertie/conformance';
import { foldEvents, iterate, type AgentEvent, type Answer, type EventOf, type Loss } from '@intertie/core';
import { describe, expect, test } from 'vitest';
import { runControl } from '../../../core/test/run-control.ts';
import { begin, finish, node } from '../../test/flow-events.ts';
import { ReplayRuntime } from '../../test/replay-runtime.ts';
import { runInput } from '../../test/run-input.ts';
import { ScriptRuntime } from '../../test/script-runtime.ts';
import { traceOf, traces } from '../../test/traces.ts';
import { openHarnessSource, type FlowRequest } from './open-harness-source.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';
import type { RuntimeLike } from '../runtime/runtime.ts';

async function all(
  stream: ReadableStream<AgentEvent>,
  seen: (event: AgentEvent) => void = () => undefined,
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of iterate(stream)) {
    events.push(event);
    seen(event);
  }
  return events;
}
const endOf = (events: AgentEvent[]): EventOf<'run-end'> => events.at(-1) as EventOf<'run-end'>;
const textOf = (events: AgentEvent[]): string =>
  (foldEvents(events)?.content.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');

const words = (content: string): RuntimeEvent => ({ type: 'agent:text:delta', ...node, content });
/** Says something and then nothing, until it is stopped. */
const endless = (): ScriptRuntime =>
  new ScriptRuntime(async (runtime) => {
    runtime.say(...begin, words('Hel'));
    await runtime.stopped();
    const isPause = runtime.commands.some((command) => command.type === 'abort' && command.resumable === true);
    runtime.say(isPause ? { type: 'agent:paused', ...node } : { type: 'agent:aborted', ...node, reason: 'abort' });
    return isPause ? 'paused' : 'aborted';
  });

describe.each(traces)('the trace $name', (trace) => {
  test.each(['timed', 'at once'] as const)('%s: one sealed run, and nobody listens any more', async (timing) => {
    const runtime = new ReplayRuntime(trace, timing);
    const events = await all(openHarnessSource(() => runtime).run(runInput(), runControl()));
    expect(check(canonical, events).violations).toEqual([]);
    expect(endOf(events).type).toBe('run-end');
    expect(runtime.listeners.size).toBe(0);
    expect(runtime.commands).toEqual([]);
  });
});

describe('a runtime is driven by its state', () => {
  test('idle: it is run with the message, the files and the history', async () => {
    const runtime = new ReplayRuntime(traceOf('01'));
    await all(openHarnessSource(runtime).run(runInput('Hi there'), runControl()));
    expect(runtime.inputs).toEqual([{ message: 'Hi there', files: [], history: [] }]);
    const other = new ReplayRuntime(traceOf('01'));
    await all(openHarnessSource(other, { input: () => ({ topic: 1 }) }).run(runInput(), runControl()));
    expect(other.inputs).toEqual([{ topic: 1 }]);
  });

  test('paused, first generation: the command, then run()', async () => {
    const runtime = new ScriptRuntime(async ({ say }) => {
      say.call(runtime, ...begin, words('on'), ...finish);
      return 'complete';
    });
    runtime.status = 'paused';
    const events = await all(openHarnessSource(runtime).run(runInput('go on'), runControl()));
    expect(runtime.commands).toEqual([{ type: 'resume', message: 'go on' }]);
    expect(runtime.inputs).toEqual([undefined]);
    expect(textOf(events)).toBe('on');
    expect(endOf(events)).toMatchObject({ outcome: 'complete' });
  });

  test('paused, second generation: its method', async () => {
    const replay = new ReplayRuntime(traceOf('v0.2.0-simple'));
    replay.status = 'paused';
    const resumed: unknown[] = [];
    const runtime: RuntimeLike = {
      run: () => Promise.reject(new Error('not this one')),
      onEvent: (listener) => replay.onEvent(listener),
      getSnapshot: () => replay.getSnapshot(),
      resume: (message) => {
        resumed.push(message);
        return replay.run();
      },
    };
    const events = await all(openHarnessSource(runtime).run(runInput('go on'), runControl()));
    expect(resumed).toEqual(['go on']);
    expect(endOf(events)).toMatchObject({ outcome: 'complete' });
  });

  test('running: the message is sent to the active node, and never run() again', async () => {
    let release = (): void => undefined;
    const runtime = new ScriptRuntime(async (own) => {
      own.say(...begin);
      await new Promise<void>((resolve) => void (release = resolve));
      own.say(words('both'), ...finish);
      return 'complete';
    });
    const source = openHarnessSource(runtime);
    const first = all(source.run(runInput('one'), runControl()));
    await expect.poll(() => runtime.status).toBe('running');
    const second = all(source.run(runInput('two', { runId: 'run-2' }), runControl()));
    await expect.poll(() => runtime.commands).toEqual([{ type: 'send', message: 'two', runId: 'n1' }]);
    release();
    expect(textOf(await first)).toBe('both');
    expect(textOf(await second)).toBe('both');
    expect(runtime.inputs).toHaveLength(1);
    expect(runtime.listeners.size).toBe(0);
  });

  test('running, and somebody else’s: the message is sent when the next node starts', async () => {
    const runtime = new ScriptRuntime();
    runtime.status = 'running';
    const events = all(openHarnessSource(runtime).run(runInput('two'), runControl()));
    await expect.poll(() => runtime.listeners.size).toBe(1);
    runtime.say(...begin);
    expect(runtime.commands).toEqual([{ type: 'send', message: 'two', runId: 'n1' }]);
    runtime.say(...finish);
    expect(endOf(await events)).toMatchObject({ outcome: 'complete' });
  });

  describe('with a flow that the program has started itself', () => {
    /** A running flow whose `node:start` was emitted before the message arrived. */
    const startedFlow = (inbox?: []): ScriptRuntime => {
      const runtime = new ScriptRuntime(() => new Promise(() => undefined));
      runtime.inbox = inbox;
      void runtime.run({});
      runtime.say(...begin);
      return runtime;
    };
    const send = async (runtime: ScriptRuntime): Promise<{ events: Promise<AgentEvent[]>; losses: Loss[] }> => {
      const losses: Loss[] = [];
      const source = openHarnessSource(runtime, { onLoss: (loss) => void losses.push(loss) });
      const events = all(source.run(runInput('two'), runControl()));
      await expect.poll(() => runtime.listeners.size).toBe(1);
      return { events, losses };
    };
    const undelivered = { outcome: 'error', error: { code: 'undelivered' } };

    test('sends the message to the node that is already active as soon as the node emits', async () => {
      const runtime = startedFlow();
      const { events } = await send(runtime);
      runtime.say(words('Hel'), words('lo'));
      expect(runtime.commands).toEqual([{ type: 'send', message: 'two', runId: 'n1' }]);
      runtime.say(...finish);
      expect(endOf(await events)).toMatchObject({ outcome: 'complete' });
      expect(textOf(await events)).toBe('Hello');
    });

    test('does not send the message to a sub-agent, which has no inbox', async () => {
      const runtime = startedFlow();
      const { events } = await send(runtime);
      runtime.say({ type: 'agent:text:delta', nodeId: 'a.left', runId: 'n1:left', content: 'x' });
      expect(runtime.commands).toEqual([]);
      runtime.say(...finish);
      expect(endOf(await events)).toMatchObject(undelivered);
    });

    test('ends with an error if the flow ends before a node could get the message', async () => {
      const runtime = startedFlow();
      const { events, losses } = await send(runtime);
      runtime.say(...finish);
      expect(runtime.commands).toEqual([]);
      expect(endOf(await events)).toMatchObject(undelivered);
      expect(losses).toContainEqual(expect.objectContaining({ kind: 'unsupported', what: 'message' }));
      expect(check(canonical, await events).violations).toEqual([]);
    });

    test('ends with an error if the message is still in the inbox when the flow ends', async () => {
      const runtime = startedFlow([]);
      const { events } = await send(runtime);
      runtime.say(words('Hello'), ...finish);
      expect(runtime.commands).toHaveLength(1);
      expect(endOf(await events)).toMatchObject(undelivered);
      expect(textOf(await events)).toBe('Hello');
    });

    test('sends a message that a node has not read to the node that starts next', async () => {
      const runtime = startedFlow([]);
      const { events, losses } = await send(runtime);
      runtime.say(words('Hello'), finish[0]!);
      const next = { nodeId: 'b', runId: 'n2' };
      runtime.say({ type: 'node:start', ...next });
      expect(runtime.commands).toEqual([
        { type: 'send', message: 'two', runId: 'n1' },
        { type: 'send', message: 'two', runId: 'n2' },
      ]);
      runtime.inbox = runtime.inbox!.filter((command) => command.type === 'send' && command.runId !== 'n2');
      runtime.say({ type: 'node:complete', ...next, output: null }, finish[1]!);
      expect(endOf(await events)).toMatchObject({ outcome: 'complete' });
      expect(losses.filter(({ what }) => what === 'message')).toEqual([]);
    });

    test('reports an undelivered message in a notice if the flow is paused', async () => {
      const runtime = startedFlow();
      const { events, losses } = await send(runtime);
      runtime.status = 'paused';
      runtime.say({ type: 'flow:paused' });
      const received = await events;
      expect(endOf(received)).toMatchObject({ outcome: 'paused' });
      expect(received).toContainEqual(expect.objectContaining({ type: 'notice', level: 'error', code: 'undelivered' }));
      expect(losses).toContainEqual(expect.objectContaining({ what: 'message' }));
    });

    test('reports an undelivered message as a loss if the reader leaves', async () => {
      const runtime = startedFlow();
      const losses: Loss[] = [];
      const source = openHarnessSource(runtime, { onLoss: (loss) => void losses.push(loss) });
      const reader = source.run(runInput('two'), runControl()).getReader();
      await reader.read();
      const next = reader.read();
      await expect.poll(() => runtime.listeners.size).toBe(1);
      await reader.cancel();
      await next;
      expect(losses).toContainEqual(expect.objectContaining({ what: 'message' }));
    });
  });

  test.each([
    ['running', 'still at work on the last message'],
    ['complete', 'a runtime runs once'],
    ['aborted', 'a runtime runs once'],
  ] as const)('%s: a clear refusal', async (status, message) => {
    const runtime = new ScriptRuntime();
    runtime.status = status;
    const events = await all(openHarnessSource(runtime, { whenRunning: 'refuse' }).run(runInput(), runControl()));
    expect(endOf(events)).toMatchObject({
      outcome: 'error',
      error: { message: expect.stringContaining(message) as string },
    });
    expect(runtime.inputs).toEqual([]);
    expect(runtime.listeners.size).toBe(0);
  });

  test('a factory that fails, and a run() that is rejected, are errors that can be read', async () => {
    const failing = openHarnessSource(() => Promise.reject(new Error('No flow.yaml here.')));
    expect(endOf(await all(failing.run(runInput(), runControl())))).toMatchObject({
      error: { message: 'No flow.yaml here.' },
    });
    const rejected = openHarnessSource(() => new ReplayRuntime(traceOf('31')));
    const events = await all(rejected.run(runInput(), runControl()));
    expect(endOf(events)).toMatchObject({ error: { message: 'Unknown node type: nope', code: 'run-rejected' } });
    expect(events.some(({ type }) => type === 'agent-start')).toBe(true);
  });
});

test('what the runtime has said after the end is in the ledger', async () => {
  const late: string[] = [];
  const onLoss = ({ kind, what }: Loss): void => void (kind === 'late' && late.push(what));
  await all(openHarnessSource(() => new ReplayRuntime(traceOf('14')), { onLoss }).run(runInput(), runControl()));
  expect(late).toEqual(['agent:text:delta', 'agent:text:delta', 'agent:text:delta', 'agent:text', 'agent:complete']);
});

describe('stopping', () => {
  test('stops the runtime itself, and waits for its last words', async () => {
    const runtime = endless();
    const stop = new AbortController();
    const stream = openHarnessSource(runtime).run(runInput(), runControl({ signal: stop.signal }));
    const events = await all(
      stream,
      ({ type }) => type === 'text-delta' && stop.abort({ by: 'user', message: 'enough' }),
    );
    expect(runtime.commands).toEqual([{ type: 'abort', reason: 'enough' }]);
    expect(endOf(events)).toMatchObject({ outcome: 'aborted', by: 'user', reason: 'enough' });
    expect(check(canonical, events).violations).toEqual([]);
    expect(runtime.listeners.size).toBe(0);
  });

  test('pauses it by option, and the next turn gets the token', async () => {
    const turns: FlowRequest[] = [];
    const runtimes = [endless(), new ReplayRuntime(traceOf('01'))];
    const source = openHarnessSource((turn) => runtimes[turns.push(turn) - 1]!, { onAbort: 'pause' });
    const stop = new AbortController();
    const stream = source.run(runInput(), runControl({ signal: stop.signal }));
    const events = await all(stream, ({ type }) => type === 'text-delta' && stop.abort());
    const end = endOf(events);
    expect(end).toMatchObject({ outcome: 'paused', waitingFor: [{ type: 'message' }], resume: { runId: 'flow-run' } });
    await all(source.run(runInput('go on', { sourceState: end.resume! }), runControl()));
    expect(turns[1]!.resume).toMatchObject({ runId: 'flow-run', snapshot: { status: 'paused' } });
  });

  test('a reader that leaves stops it too', async () => {
    const runtime = endless();
    const reader = openHarnessSource(runtime).run(runInput(), runControl()).getReader();
    for (let type = ''; type !== 'text-delta';) type = (await reader.read()).value!.type;
    await reader.cancel();
    expect(runtime.commands).toMatchObject([{ type: 'abort' }]);
    expect(runtime.listeners.size).toBe(0);
  });

  test('before it began, nothing begins', async () => {
    const runtime = endless();
    const events = await all(openHarnessSource(runtime).run(runInput(), runControl({ signal: AbortSignal.abort() })));
    expect(endOf(events)).toMatchObject({ outcome: 'aborted' });
    expect(runtime.inputs).toEqual([]);
  });

  test('a runtime that does not listen is left behind', async () => {
    const runtime = endless();
    runtime.dispatch = () => undefined;
    const stop = new AbortController();
    const stream = openHarnessSource(runtime, { drainMs: 5 }).run(runInput(), runControl({ signal: stop.signal }));
    const events = await all(stream, ({ type }) => type === 'text-delta' && stop.abort());
    expect(endOf(events)).toMatchObject({ outcome: 'aborted', by: 'user' });
    expect(runtime.listeners.size).toBe(0);
  });
});

describe('live pauses', () => {
  const twoActs = (): ScriptRuntime =>
    new ScriptRuntime(
      async (runtime) => {
        runtime.say(...begin, { type: 'flow:paused' }, { type: 'agent:paused', ...node });
        return 'paused';
      },
      async (runtime) => {
        runtime.say({ type: 'node:start', nodeId: 'a', runId: 'n2' });
        runtime.say({ type: 'node:complete', nodeId: 'a', runId: 'n2', output: 1 }, finish[1]!);
        return 'complete';
      },
    );

  test('are answered inside the run', async () => {
    const runtime = twoActs();
    async function* liveAnswers(): AsyncGenerator<Answer> {
      yield { questionId: 'run:pause-1', value: 'ship it' };
    }
    const source = openHarnessSource(runtime, { pauses: 'live' });
    expect(source.pauses).toBe('live');
    const events = await all(source.run(runInput(), runControl({ liveAnswers: liveAnswers() })));
    expect(check(canonical, events).violations).toEqual([]);
    expect(runtime.commands).toEqual([{ type: 'resume', message: 'ship it' }]);
    expect(events.find(({ type }) => type === 'answer')).toMatchObject({ value: 'ship it' });
    expect(endOf(events)).toMatchObject({ outcome: 'complete' });
  });

  test('end the run where nobody can answer', async () => {
    const events = await all(openHarnessSource(twoActs(), { pauses: 'live' }).run(runInput(), runControl()));
    expect(endOf(events)).toMatchObject({ outcome: 'paused', waitingFor: [{ type: 'question' }] });
  });
});

test('the flow’s edges are the topology', async () => {
  const flow = {
    name: 'news',
    nodes: [{ id: 'plan' }, { id: 'edit' }],
    edges: [{ from: 'plan', to: 'edit', when: 'ok' }],
  };
  const source = openHarnessSource(() => endless(), { flow });
  expect(source.name).toBe('news');
  expect(await source.describe!()).toEqual({
    entry: 'plan',
    agents: [
      { name: 'plan', kind: 'node' },
      { name: 'edit', kind: 'node' },
    ],
    edges: [{ from: 'plan', to: 'edit', label: 'ok' }],
  });
  expect(await openHarnessSource(endless()).describe!()).toMatchObject({ entry: 'a', edges: [{ from: 'a', to: 'b' }] });
});
