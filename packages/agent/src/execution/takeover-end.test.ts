import type { AgentSource, RunRecord } from '@intertie/core';
import type { RunPosition } from '@intertie/core/store';
import { expect, it } from 'vitest';
import { findTakeoverEnd, type TakeoverFacts } from './takeover-end.ts';

const run = { agent: 'helper', attempts: 2 } as RunRecord;
const start = (): ReadableStream<never> => new ReadableStream();
const resumable: AgentSource = { name: 'helper', pauses: 'replay', run: start, resume: start };
const position: RunPosition = { epoch: 2, next: 5, stop: false, live: true };
const facts: TakeoverFacts = { agent: { source: resumable }, position, maxAttempts: 3 };

it('continues a run whose source can resume', () => {
  expect(findTakeoverEnd({ run, epoch: 2 }, facts)).toBeUndefined();
});

it.each([
  ['agent-gone', { agent: undefined }],
  ['lost', { agent: { source: { name: 'helper', pauses: 'replay' as const, run: start } } }],
  ['too-many-attempts', { maxAttempts: 1 }],
])('ends a run with the error %s', (code, changed) => {
  expect(findTakeoverEnd({ run, epoch: 2 }, { ...facts, ...changed })).toMatchObject({
    reason: 'error',
    error: { code },
  });
});

it('hints at `recover` in the data of the error of a lost run', () => {
  const agent = { source: { name: 'helper', pauses: 'replay' as const, run: start } };
  expect(findTakeoverEnd({ run, epoch: 2 }, { ...facts, agent })).toMatchObject({
    error: { data: { hint: expect.stringContaining("recover: 'step'") } },
  });
});

it('honours a stop that was requested before the takeover, with its reason', () => {
  const stopped = { ...position, stop: true, stopReason: 'enough' };
  const end = { reason: 'aborted', by: 'user', message: 'enough' };
  expect(findTakeoverEnd({ run, epoch: 2 }, { ...facts, agent: undefined, position: stopped })).toEqual(end);
});

it('ignores the stop of an earlier owner', () => {
  const stopped = { ...position, epoch: 1, stop: true };
  expect(findTakeoverEnd({ run, epoch: 2 }, { ...facts, position: stopped })).toBeUndefined();
});
