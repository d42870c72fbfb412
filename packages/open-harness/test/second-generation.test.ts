import { canonical, check } from '@intertie/conformance';
import { foldEvents, iterate, type AgentEvent, type Answer, type EventOf, type RunControl } from '@intertie/core';
import { describe, expect, test } from 'vitest';
import { runControl } from '../../core/test/run-control.ts';
import { runInput } from './run-input.ts';
import { SecondRuntime } from './second-runtime.ts';
import { openHarnessSource, type OpenHarnessSourceOptions } from '../src/source/open-harness-source.ts';

const forever = (): Promise<void> => new Promise(() => undefined);
const immediately = (): Promise<void> => Promise.resolve();

/** Runs a message to its end. `onWord` is called at each text delta. */
async function runOnce(
  runtime: SecondRuntime,
  options: OpenHarnessSourceOptions = {},
  given: { text?: string; onWord?: () => void; control?: Partial<RunControl> } = {},
): Promise<AgentEvent[]> {
  const stream = openHarnessSource(runtime, options).run(runInput(given.text), runControl(given.control));
  const events: AgentEvent[] = [];
  for await (const event of iterate(stream)) {
    events.push(event);
    if (event.type === 'text-delta') given.onWord?.();
  }
  expect(check(canonical, events).violations).toEqual([]);
  expect(runtime.listeners.size).toBe(0);
  return events;
}
const getEnd = (events: AgentEvent[]): EventOf<'run-end'> => events.at(-1) as EventOf<'run-end'>;
const getTexts = (events: AgentEvent[]): string[] =>
  (foldEvents(events)?.content.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));

describe('second-generation runtime', () => {
  test('runs a message to completion', async () => {
    const runtime = new SecondRuntime(immediately);
    const events = await runOnce(runtime, {}, { text: 'hi' });
    expect(getTexts(events)).toEqual(['you said hi']);
    expect(runtime.calls).toEqual(['run hi']);
    expect(getEnd(events)).toMatchObject({ outcome: 'complete' });
  });

  test('stops by its own method', async () => {
    const runtime = new SecondRuntime(forever);
    const stop = new AbortController();
    const onWord = (): void => stop.abort({ by: 'user', message: 'enough' });
    const events = await runOnce(runtime, {}, { text: 'hi', onWord, control: { signal: stop.signal } });
    expect(runtime.calls).toEqual(['run hi', 'stop']);
    expect(getEnd(events)).toMatchObject({ outcome: 'aborted', by: 'user', reason: 'enough' });
    expect(runtime.status).toBe('aborted');
  });

  test('pauses by its own method and resumes with the next message', async () => {
    let work = forever;
    const runtime = new SecondRuntime(() => work());
    const stop = new AbortController();
    const options = { onAbort: 'pause' } as const;
    const onWord = (): void => stop.abort();
    const first = await runOnce(runtime, options, { text: 'hi', onWord, control: { signal: stop.signal } });
    expect(getEnd(first)).toMatchObject({ outcome: 'paused', waitingFor: [{ type: 'message' }] });
    work = immediately;
    const second = await runOnce(runtime, options, { text: 'go on' });
    expect(runtime.calls).toEqual(['run hi', 'pause', 'resume go on']);
    expect(getTexts(second)).toEqual(['you said undefined']);
    expect(getEnd(second)).toMatchObject({ outcome: 'complete' });
  });

  test('ends the run if other code pauses or stops the runtime', async () => {
    const paused = new SecondRuntime(forever);
    expect(getEnd(await runOnce(paused, {}, { onWord: () => paused.pause() }))).toMatchObject({
      outcome: 'paused',
      resume: { runId: 'flow-run', snapshot: { status: 'paused' } },
    });
    const stopped = new SecondRuntime(forever);
    expect(getEnd(await runOnce(stopped, {}, { onWord: () => stopped.dispatch({ type: 'stop' }) }))).toMatchObject({
      outcome: 'aborted',
    });
  });

  test('rejects a message while running, because it has no inbox', async () => {
    const runtime = new SecondRuntime(forever);
    runtime.status = 'running';
    expect(getEnd(await runOnce(runtime, { whenRunning: 'send' }))).toMatchObject({
      outcome: 'error',
      error: { message: expect.stringContaining('accepts messages only when paused') as string },
    });
    expect(runtime.calls).toEqual([]);
  });

  test('resumes a live pause inside the run', async () => {
    let work = forever;
    const runtime = new SecondRuntime(() => work());
    async function* liveAnswers(): AsyncGenerator<Answer> {
      work = immediately;
      yield { questionId: 'run:pause-1', value: 'ship it' };
    }
    let isPaused = false;
    const onWord = (): void => {
      if (!isPaused) runtime.pause();
      isPaused = true;
    };
    const events = await runOnce(runtime, { pauses: 'live' }, { onWord, control: { liveAnswers: liveAnswers() } });
    expect(runtime.calls).toEqual(['run hello', 'pause', 'resume ship it']);
    expect(getEnd(events)).toMatchObject({ outcome: 'complete' });
    expect(getTexts(events)).toEqual(['you ', 'you said undefined']);
  });

  test('merges two events of one tool use into one call', async () => {
    const runtime = new SecondRuntime(async ({ runId }, own) => {
      const tool = { type: 'agent:tool' as const, nodeId: 'a', runId, toolName: 'Read' };
      own.emit({ ...tool, toolInput: { file: 'a' }, toolOutput: undefined });
      own.emit({ ...tool, toolInput: { file: 'b' }, toolOutput: undefined });
      own.emit({ ...tool, toolInput: undefined, toolOutput: 'A' }, { ...tool, toolInput: undefined, toolOutput: 'B' });
    });
    const parts = foldEvents(await runOnce(runtime))?.content.parts ?? [];
    expect(parts.filter(({ type }) => type === 'tool-invocation')).toMatchObject([
      { args: { file: 'a' }, result: 'A' },
      { args: { file: 'b' }, result: 'B' },
    ]);
  });
});
