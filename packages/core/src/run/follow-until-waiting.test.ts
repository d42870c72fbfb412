import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../event/event.ts';
import { createInMemoryStore } from '../store/in-memory/in-memory-store.ts';
import type { DurableAgent, DurableRun } from './durable-agent.ts';
import type { Followed } from './follow-run.ts';
import { followUntilWaiting } from './follow-until-waiting.ts';

const start: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' };
const ask = (questionId: string): AgentEvent => ({ type: 'question', questionId, kind: 'input', message: 'Which?' });
const answer = (questionId: string): AgentEvent => ({ type: 'answer', questionId, value: 'this' });
const textEvents = (id: string): AgentEvent[] => [
  { type: 'text-start', id },
  { type: 'text-end', id },
];
const complete: AgentEvent = { type: 'run-end', outcome: 'complete' };

/** Follows a run that writes one event per item of `script`, or waits that many milliseconds. */
async function follow(
  script: ReadonlyArray<AgentEvent | number>,
  { open = ['q', 'p'], answered = [] as string[] } = {},
) {
  const store = createInMemoryStore();
  const { registry, scope, log } = store;
  await registry.heartbeat('p');
  const request = { threadId: 't', runId: 'r', agent: 'a', process: 'p', messageId: 'm' };
  const started = await registry.start(scope, { ...request, busy: 'reject', pending: 'supersede', parentId: null });
  if (started.type !== 'started') throw new Error(started.type);
  const { key } = started.run;
  const requests = open.map((id) => ({
    id,
    kind: 'input' as const,
    question: { questionId: id, kind: 'input' as const },
  }));
  await registry.openDecisions(key, started.epoch, requests);
  const answers = answered.map((questionId) => ({ questionId, value: 'this' }));
  await registry.answer(scope, key, { answers, continuation: { runId: 'next', process: 'p' } });
  const events = script.filter((item) => typeof item !== 'number');
  await log.append([{ run: key, epoch: started.epoch, seq: 1, events: events.slice(0, 1) }]);
  let isCancelled = false;
  const run = {
    record: async () => (await registry.getRun(scope, key))!,
    follow() {
      const items = [...script];
      let seq = 0;
      return new ReadableStream<Followed>(
        {
          async pull(controller) {
            if (items.length === 0) return new Promise(() => undefined);
            while (items.length > 0) {
              const item = items.shift()!;
              if (typeof item === 'number') await new Promise((resolve) => setTimeout(resolve, item));
              else {
                seq += 1;
                return controller.enqueue({ type: 'events', events: [item], position: { epoch: 1, seq } });
              }
            }
            return undefined;
          },
          cancel: () => void (isCancelled = true),
        },
        { highWaterMark: 0 },
      );
    },
  } as unknown as DurableRun;
  const reader = followUntilWaiting({ store } as DurableAgent, run).getReader();
  const types: string[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { types, isCancelled };
    if (value.type === 'ended' && value.event.outcome === 'paused') {
      const ids = value.event.waitingFor.map((waiting) => ('questionId' in waiting ? waiting.questionId : ''));
      types.push(`waits for ${ids.join(' ')}`);
    } else if (value.type === 'events') types.push(...value.events.map(({ type }) => type));
    if (types.at(-1) === 'run-end') {
      await reader.cancel();
      return { types, isCancelled };
    }
  }
}

describe('followUntilWaiting', () => {
  test('ends the stream when the run waits for an open question', async () => {
    const { types, isCancelled } = await follow([start, ...textEvents('one'), ask('q')]);
    expect(types).toEqual(['run-start', 'text-start', 'text-end', 'question', 'waits for q']);
    expect(isCancelled).toBe(true);
  });

  test('delivers parallel events that follow the question at once', async () => {
    const { types } = await follow([start, ask('q'), 20, ...textEvents('one')]);
    expect(types).toEqual(['run-start', 'question', 'text-start', 'text-end', 'waits for q']);
  });

  test('does not end while a part is streamed', async () => {
    const { types } = await follow([
      start,
      { type: 'text-start', id: 'one' },
      ask('q'),
      250,
      { type: 'text-end', id: 'one' },
    ]);
    expect(types).toEqual(['run-start', 'text-start', 'question', 'text-end', 'waits for q']);
  });

  test('streams past a question that is answered in the store', async () => {
    const { types } = await follow([start, ask('q'), 250, answer('q'), complete], { answered: ['q'] });
    expect(types).toEqual(['run-start', 'question', 'answer', 'run-end']);
  });

  test('waits only for the questions that are still open', async () => {
    const { types } = await follow([start, ask('q'), ask('p')], { answered: ['q'] });
    expect(types.at(-1)).toBe('waits for p');
  });

  test('does not wait for automatic questions', async () => {
    const ruled: AgentEvent = { type: 'question', questionId: 'q', kind: 'approval', automatic: true };
    const { types } = await follow([start, ruled, 250, complete]);
    expect(types).toEqual(['run-start', 'question', 'run-end']);
  });
});
