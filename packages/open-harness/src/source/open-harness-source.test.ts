import { canonical, check } from '@intertie/conformance';
import { foldEvents, iterate, type AgentEvent, type Answer, type EventOf, type Loss } from '@intertie/core';
import { describe, expect, test } from 'vitest';
import { runControl } from '../../../core/test/run-control.ts';
import { begin, finish, node } from '../../test/flow-events.ts';
import { ReplayRuntime } from '../../test/replay-runtime.ts';
import { runInput } from '../../test/run-input.ts';
import { ScriptRuntime } from '../../test/script-runtime.ts';
import { findTrace, traces } from '../../test/traces.ts';
import { openHarnessSource, type FlowRequest } from './open-harness-source.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';
import type { RuntimeLike } from '../runtime/runtime.ts';

async function runToEnd(
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
const getEnd = (events: AgentEvent[]): EventOf<'run-end'> => events.at(-1) as EventOf<'run-end'>;
const getText = (events: AgentEvent[]): string =>
  (foldEvents(events)?.content.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');

const textDelta = (content: string): RuntimeEvent => ({ type: 'agent:text:delta', ...node, content });
/** Creates a runtime that emits text and then nothing until it is stopped. */
const endless = (): ScriptRuntime =>
  new ScriptRuntime(async (runtime) => {
    runtime.emit(...begin, textDelta('Hel'));
    await runtime.stopped();
    const isPause = runtime.commands.some((command) => command.type === 'abort' && command.resumable === true);
    runtime.emit(isPause ? { type: 'agent:paused', ...node } : { type: 'agent:aborted', ...node, reason: 'abort' });
    return isPause ? 'paused' : 'aborted';
  });

describe.each(traces)('trace $name', (trace) => {
  test.each(['timed', 'immediate'] as const)('emits one valid run and removes its listener (%s)', async (timing) => {
    const runtime = new ReplayRuntime(trace, timing);
    const events = await runToEnd(openHarnessSource(() => runtime).run(runInput(), runControl()));
    expect(check(canonical, events).violations).toEqual([]);
    expect(getEnd(events).type).toBe('run-end');
    expect(runtime.listeners.size).toBe(0);
    expect(runtime.commands).toEqual([]);
  });
});

describe('openHarnessSource by runtime status', () => {
  test('runs an idle runtime with message, files and history', async () => {
    const runtime = new ReplayRuntime(findTrace('01'));
    await runToEnd(openHarnessSource(runtime).run(runInput('Hi there'), runControl()));
    expect(runtime.inputs).toEqual([{ message: 'Hi there', files: [], history: [] }]);
    const other = new ReplayRuntime(findTrace('01'));
    await runToEnd(openHarnessSource(other, { input: () => ({ topic: 1 }) }).run(runInput(), runControl()));
    expect(other.inputs).toEqual([{ topic: 1 }]);
  });

  test('resumes a paused first-generation runtime by command and run()', async () => {
    const runtime = new ScriptRuntime(async ({ emit }) => {
      emit.call(runtime, ...begin, textDelta('on'), ...finish);
      return 'complete';
    });
    runtime.status = 'paused';
    const events = await runToEnd(openHarnessSource(runtime).run(runInput('go on'), runControl()));
    expect(runtime.commands).toEqual([{ type: 'resume', message: 'go on' }]);
    expect(runtime.inputs).toEqual([undefined]);
    expect(getText(events)).toBe('on');
    expect(getEnd(events)).toMatchObject({ outcome: 'complete' });
  });

  test('resumes a paused second-generation runtime by its method', async () => {
    const replay = new ReplayRuntime(findTrace('v0.2.0-simple'));
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
    const events = await runToEnd(openHarnessSource(runtime).run(runInput('go on'), runControl()));
    expect(resumed).toEqual(['go on']);
    expect(getEnd(events)).toMatchObject({ outcome: 'complete' });
  });

  test('sends a message to the active node of a running runtime', async () => {
    let release = (): void => undefined;
    const runtime = new ScriptRuntime(async (own) => {
      own.emit(...begin);
      await new Promise<void>((resolve) => void (release = resolve));
      own.emit(textDelta('both'), ...finish);
      return 'complete';
    });
    const source = openHarnessSource(runtime);
    const first = runToEnd(source.run(runInput('one'), runControl()));
    await expect.poll(() => runtime.status).toBe('running');
    const second = runToEnd(source.run(runInput('two', { runId: 'run-2' }), runControl()));
    await expect.poll(() => runtime.commands).toEqual([{ type: 'send', message: 'two', runId: 'n1' }]);
    release();
    expect(getText(await first)).toBe('both');
    expect(getText(await second)).toBe('both');
    expect(runtime.inputs).toHaveLength(1);
    expect(runtime.listeners.size).toBe(0);
  });

  test('sends a message when the next node of a foreign runtime starts', async () => {
    const runtime = new ScriptRuntime();
    runtime.status = 'running';
    const events = runToEnd(openHarnessSource(runtime).run(runInput('two'), runControl()));
    await expect.poll(() => runtime.listeners.size).toBe(1);
    runtime.emit(...begin);
    expect(runtime.commands).toEqual([{ type: 'send', message: 'two', runId: 'n1' }]);
    runtime.emit(...finish);
    expect(getEnd(await events)).toMatchObject({ outcome: 'complete' });
  });

  describe('with a flow that the program has started itself', () => {
    /** A running flow whose `node:start` was emitted before the message arrived. */
    const startedFlow = (inbox?: []): ScriptRuntime => {
      const runtime = new ScriptRuntime(() => new Promise(() => undefined));
      runtime.inbox = inbox;
      void runtime.run({});
      runtime.emit(...begin);
      return runtime;
    };
    const send = async (runtime: ScriptRuntime): Promise<{ events: Promise<AgentEvent[]>; losses: Loss[] }> => {
      const losses: Loss[] = [];
      const source = openHarnessSource(runtime, { onLoss: (loss) => void losses.push(loss) });
      const events = runToEnd(source.run(runInput('two'), runControl()));
      await expect.poll(() => runtime.listeners.size).toBe(1);
      return { events, losses };
    };
    const undelivered = { outcome: 'error', error: { code: 'undelivered' } };

    test('sends the message to the node that is already active as soon as the node emits', async () => {
      const runtime = startedFlow();
      const { events } = await send(runtime);
      runtime.emit(textDelta('Hel'), textDelta('lo'));
      expect(runtime.commands).toEqual([{ type: 'send', message: 'two', runId: 'n1' }]);
      runtime.emit(...finish);
      expect(getEnd(await events)).toMatchObject({ outcome: 'complete' });
      expect(getText(await events)).toBe('Hello');
    });

    test('does not send the message to a sub-agent, which has no inbox', async () => {
      const runtime = startedFlow();
      const { events } = await send(runtime);
      runtime.emit({ type: 'agent:text:delta', nodeId: 'a.left', runId: 'n1:left', content: 'x' });
      expect(runtime.commands).toEqual([]);
      runtime.emit(...finish);
      expect(getEnd(await events)).toMatchObject(undelivered);
    });

    test('ends with an error if the flow ends before a node could get the message', async () => {
      const runtime = startedFlow();
      const { events, losses } = await send(runtime);
      runtime.emit(...finish);
      expect(runtime.commands).toEqual([]);
      expect(getEnd(await events)).toMatchObject(undelivered);
      expect(losses).toContainEqual(expect.objectContaining({ kind: 'unsupported', what: 'message' }));
      expect(check(canonical, await events).violations).toEqual([]);
    });

    test('ends with an error if the message is still in the inbox when the flow ends', async () => {
      const runtime = startedFlow([]);
      const { events } = await send(runtime);
      runtime.emit(textDelta('Hello'), ...finish);
      expect(runtime.commands).toHaveLength(1);
      expect(getEnd(await events)).toMatchObject(undelivered);
      expect(getText(await events)).toBe('Hello');
    });

    test('sends a message that a node has not read to the node that starts next', async () => {
      const runtime = startedFlow([]);
      const { events, losses } = await send(runtime);
      runtime.emit(textDelta('Hello'), finish[0]!);
      const next = { nodeId: 'b', runId: 'n2' };
      runtime.emit({ type: 'node:start', ...next });
      expect(runtime.commands).toEqual([
        { type: 'send', message: 'two', runId: 'n1' },
        { type: 'send', message: 'two', runId: 'n2' },
      ]);
      runtime.inbox = runtime.inbox!.filter((command) => command.type === 'send' && command.runId !== 'n2');
      runtime.emit({ type: 'node:complete', ...next, output: null }, finish[1]!);
      expect(getEnd(await events)).toMatchObject({ outcome: 'complete' });
      expect(losses.filter(({ what }) => what === 'message')).toEqual([]);
    });

    test('reports an undelivered message in a notice if the flow is paused', async () => {
      const runtime = startedFlow();
      const { events, losses } = await send(runtime);
      runtime.status = 'paused';
      runtime.emit({ type: 'flow:paused' });
      const received = await events;
      expect(getEnd(received)).toMatchObject({ outcome: 'paused' });
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
    ['running', 'still working on the last message'],
    ['complete', 'a runtime runs once'],
    ['aborted', 'a runtime runs once'],
  ] as const)('rejects a runtime with status %s', async (status, message) => {
    const runtime = new ScriptRuntime();
    runtime.status = status;
    const events = await runToEnd(openHarnessSource(runtime, { whenRunning: 'refuse' }).run(runInput(), runControl()));
    expect(getEnd(events)).toMatchObject({
      outcome: 'error',
      error: { message: expect.stringContaining(message) as string },
    });
    expect(runtime.inputs).toEqual([]);
    expect(runtime.listeners.size).toBe(0);
  });

  test('ends with a readable error if the factory or run() fails', async () => {
    const failing = openHarnessSource(() => Promise.reject(new Error('No flow.yaml here.')));
    expect(getEnd(await runToEnd(failing.run(runInput(), runControl())))).toMatchObject({
      error: { message: 'No flow.yaml here.' },
    });
    const rejected = openHarnessSource(() => new ReplayRuntime(findTrace('31')));
    const events = await runToEnd(rejected.run(runInput(), runControl()));
    expect(getEnd(events)).toMatchObject({ error: { message: 'Unknown node type: nope', code: 'run-rejected' } });
    expect(events.some(({ type }) => type === 'agent-start')).toBe(true);
  });
});

test('reports events after the end as losses', async () => {
  const late: string[] = [];
  const onLoss = ({ kind, what }: Loss): void => void (kind === 'late' && late.push(what));
  await runToEnd(openHarnessSource(() => new ReplayRuntime(findTrace('14')), { onLoss }).run(runInput(), runControl()));
  expect(late).toEqual(['agent:text:delta', 'agent:text:delta', 'agent:text:delta', 'agent:text', 'agent:complete']);
});

describe('stopping', () => {
  test('stops the runtime and waits for its final events', async () => {
    const runtime = endless();
    const stop = new AbortController();
    const stream = openHarnessSource(runtime).run(runInput(), runControl({ signal: stop.signal }));
    const events = await runToEnd(
      stream,
      ({ type }) => type === 'text-delta' && stop.abort({ by: 'user', message: 'enough' }),
    );
    expect(runtime.commands).toEqual([{ type: 'abort', reason: 'enough' }]);
    expect(getEnd(events)).toMatchObject({ outcome: 'aborted', by: 'user', reason: 'enough' });
    expect(check(canonical, events).violations).toEqual([]);
    expect(runtime.listeners.size).toBe(0);
  });

  test('pauses the runtime with onAbort and passes the token to the next run', async () => {
    const turns: FlowRequest[] = [];
    const runtimes = [endless(), new ReplayRuntime(findTrace('01'))];
    const source = openHarnessSource((turn) => runtimes[turns.push(turn) - 1]!, { onAbort: 'pause' });
    const stop = new AbortController();
    const stream = source.run(runInput(), runControl({ signal: stop.signal }));
    const events = await runToEnd(stream, ({ type }) => type === 'text-delta' && stop.abort());
    const end = getEnd(events);
    expect(end).toMatchObject({ outcome: 'paused', waitingFor: [{ type: 'message' }], resume: { runId: 'flow-run' } });
    await runToEnd(source.run(runInput('go on', { sourceState: end.resume! }), runControl()));
    expect(turns[1]!.resume).toMatchObject({ runId: 'flow-run', snapshot: { status: 'paused' } });
  });

  test('stops the runtime if the reader cancels', async () => {
    const runtime = endless();
    const reader = openHarnessSource(runtime).run(runInput(), runControl()).getReader();
    for (let type = ''; type !== 'text-delta';) type = (await reader.read()).value!.type;
    await reader.cancel();
    expect(runtime.commands).toMatchObject([{ type: 'abort' }]);
    expect(runtime.listeners.size).toBe(0);
  });

  test('does not start the runtime after an abort', async () => {
    const runtime = endless();
    const events = await runToEnd(
      openHarnessSource(runtime).run(runInput(), runControl({ signal: AbortSignal.abort() })),
    );
    expect(getEnd(events)).toMatchObject({ outcome: 'aborted' });
    expect(runtime.inputs).toEqual([]);
  });

  test('ends the run if the runtime ignores the stop', async () => {
    const runtime = endless();
    runtime.dispatch = () => undefined;
    const stop = new AbortController();
    const stream = openHarnessSource(runtime, { drainMs: 5 }).run(runInput(), runControl({ signal: stop.signal }));
    const events = await runToEnd(stream, ({ type }) => type === 'text-delta' && stop.abort());
    expect(getEnd(events)).toMatchObject({ outcome: 'aborted', by: 'user' });
    expect(runtime.listeners.size).toBe(0);
  });
});

describe('live pauses', () => {
  const createPausingRuntime = (): ScriptRuntime =>
    new ScriptRuntime(
      async (runtime) => {
        runtime.emit(...begin, { type: 'flow:paused' }, { type: 'agent:paused', ...node });
        return 'paused';
      },
      async (runtime) => {
        runtime.emit({ type: 'node:start', nodeId: 'a', runId: 'n2' });
        runtime.emit({ type: 'node:complete', nodeId: 'a', runId: 'n2', output: 1 }, finish[1]!);
        return 'complete';
      },
    );

  test('resumes a live pause inside the run', async () => {
    const runtime = createPausingRuntime();
    async function* liveAnswers(): AsyncGenerator<Answer> {
      yield { questionId: 'run:pause-1', value: 'ship it' };
    }
    const source = openHarnessSource(runtime, { pauses: 'live' });
    expect(source.pauses).toBe('live');
    const events = await runToEnd(source.run(runInput(), runControl({ liveAnswers: liveAnswers() })));
    expect(check(canonical, events).violations).toEqual([]);
    expect(runtime.commands).toEqual([{ type: 'resume', message: 'ship it' }]);
    expect(events.find(({ type }) => type === 'answer')).toMatchObject({ value: 'ship it' });
    expect(getEnd(events)).toMatchObject({ outcome: 'complete' });
  });

  test('ends the run if a live pause cannot be answered', async () => {
    const events = await runToEnd(
      openHarnessSource(createPausingRuntime(), { pauses: 'live' }).run(runInput(), runControl()),
    );
    expect(getEnd(events)).toMatchObject({ outcome: 'paused', waitingFor: [{ type: 'question' }] });
  });
});

test('describes the flow as a topology', async () => {
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
