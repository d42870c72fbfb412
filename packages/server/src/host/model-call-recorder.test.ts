import type { RunInput } from '@intertie/core';
import { expect, it } from 'vitest';
import { runInput } from '../../../ai-sdk/test/scripted-model.ts';
import { sourceDefinition } from '../agents/agent-definition.ts';
import { ModelCallRecorder } from './model-call-recorder.ts';

const definition = {
  ...sourceDefinition({ name: 'model', pauses: 'replay', run: () => new ReadableStream() }),
  reportsModelCalls: true as const,
};
const run = (runId: string): RunInput => runInput({ runId });

it('records later calls without their messages when the recording of a run is full', () => {
  const recorder = new ModelCallRecorder();
  const onModelCall = recorder.start(definition, 'model', run('r'));
  const prompt = Array.from({ length: 20 }, () => ({ role: 'user', content: 'x'.repeat(50_000) }));
  for (let n = 0; n < 3; n += 1) onModelCall({ provider: 'p', model: 'm', prompt, tools: [], settings: {} })({});
  const calls = recorder.list(run('r'))!;
  expect(calls.map((call) => call.prompt.length)).toEqual([20, 0, 0]);
  expect(calls[2]!.error).toContain('full');
});

it('drops the oldest of more than 50 runs', () => {
  const recorder = new ModelCallRecorder();
  for (let n = 0; n < 51; n += 1) recorder.start(definition, 'model', run(`r${n}`));
  expect(recorder.list(run('r0'))).toBeUndefined();
  expect(recorder.list(run('r1'))).toEqual([]);
});

it('truncates one large message and keeps the others', () => {
  const recorder = new ModelCallRecorder();
  const prompt = [
    { role: 'user', content: 'x'.repeat(100_000) },
    { role: 'user', content: 'small' },
  ];
  recorder.start(definition, 'model', run('r'))({ provider: 'p', model: 'm', prompt, tools: [], settings: {} });
  expect(recorder.list(run('r'))![0]!.prompt).toMatchObject([{ truncated: true }, { content: 'small' }]);
});
