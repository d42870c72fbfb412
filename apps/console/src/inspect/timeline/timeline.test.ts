import { readFileSync } from 'node:fs';
import { parseTape, type AgentEvent } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { buildTimeline } from './timeline.ts';

const run: AgentEvent[] = [
  { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm', at: 1000 },
  { type: 'agent-start', agentId: 'a', name: 'planner', kind: 'agent', at: 1010 },
  { type: 'step-start', stepId: 's1', agentId: 'a', at: 1020 },
  { type: 'text-start', id: 'x', agentId: 'a', stepId: 's1', at: 1300 },
  { type: 'text-delta', id: 'x', delta: 'Hi' },
  { type: 'text-end', id: 'x' },
  { type: 'tool-call', toolCallId: 'c', toolName: 'search', input: {}, agentId: 'a', stepId: 's1', at: 1400 },
  { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 1, at: 2400 },
  { type: 'step-end', stepId: 's1', finishReason: 'stop', usage: [{ outputTokens: 4 }, { outputTokens: 6 }], at: 2410 },
  { type: 'agent-end', agentId: 'a', outcome: 'complete', at: 2415 },
  { type: 'run-end', outcome: 'complete', at: 2420 },
];

describe('buildTimeline', () => {
  it('nests run, agent, step and tool, with their times', () => {
    const { spans, start, end, isLive } = buildTimeline(run);
    expect(spans.map(({ kind, label, depth, start: from, end: to }) => [kind, label, depth, from, to])).toEqual([
      ['run', 'run', 0, 1000, 2420],
      ['agent', 'planner', 1, 1010, 2415],
      ['step', 'step 1', 2, 1020, 2410],
      ['tool', 'search', 3, 1400, 2400],
    ]);
    expect({ start, end, isLive }).toEqual({ start: 1000, end: 2420, isLive: false });
  });

  it('records the time of the first output and sums the usage', () => {
    const spans = buildTimeline(run).spans;
    const whole = spans.at(0);
    const step = spans.at(2);
    expect(whole!.firstOutput! - whole!.start).toBe(300);
    expect(step).toMatchObject({ firstOutput: 1300, usage: { outputTokens: 10 }, outcome: 'complete' });
  });

  it('finds gaps without events', () => {
    expect(buildTimeline(run).gaps).toEqual([{ start: 1400, end: 2400, before: 7 }]);
  });

  it('leaves spans of a live run open and closes them with the run', () => {
    const live = buildTimeline(run.slice(0, 7));
    expect(live.isLive).toBe(true);
    expect(live.spans.every(({ end }) => end === undefined)).toBe(true);
    const cut = buildTimeline([...run.slice(0, 7), { type: 'run-end', outcome: 'aborted', at: 1500 }]);
    expect(cut.spans.every(({ end, outcome }) => end === 1500 && outcome === 'aborted')).toBe(true);
  });

  it('shows the waiting time of a question below its tool call', () => {
    const { spans } = buildTimeline([
      ...run.slice(0, 7),
      { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'c', at: 1500 },
      { type: 'answer', questionId: 'q', approved: false, at: 1900 },
    ]);
    expect(spans.at(-1)).toMatchObject({
      kind: 'wait',
      label: 'approval',
      depth: 4,
      start: 1500,
      end: 1900,
      outcome: 'denied',
    });
  });

  it('shows the time without a process before a recovery and a hand-over', () => {
    const notice = (attempts: number, at: number): AgentEvent => ({
      type: 'notice',
      level: 'info',
      code: 'recovered',
      message: 'Another process continues the run.',
      data: { epoch: 2, attempts },
      at,
    });
    const { spans } = buildTimeline([...run.slice(0, 7), notice(2, 5400), notice(2, 6400)]);
    expect(spans.filter(({ kind }) => kind === 'recovery').map(({ label, start, end }) => [label, start, end])).toEqual(
      [
        ['attempt 2', 1400, 5400],
        ['handed over', 5400, 6400],
      ],
    );
  });

  it('counts no gap while deltas without a time arrive', () => {
    const delta: AgentEvent = { type: 'text-delta', id: 't', delta: 'a' };
    const first: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm', at: 1000 };
    const last: AgentEvent = { type: 'run-end', outcome: 'complete', at: 9000 };
    expect(buildTimeline([first, delta, delta, last]).gaps).toEqual([]);
    expect(buildTimeline([first, last]).gaps).toEqual([{ start: 1000, end: 9000, before: 1 }]);
  });

  it('shows every step and call of a recorded swarm', () => {
    const path = new URL('../../../../../packages/conformance/corpus/swarm-asks.tape.jsonl', import.meta.url);
    const events = parseTape(readFileSync(path, 'utf8')).items.map(({ item }) => item as unknown as AgentEvent);
    const count = (type: string): number => events.filter((event) => event.type === type).length;
    const { spans } = buildTimeline(events);
    const kinds = (kind: string): number => spans.filter((span) => span.kind === kind).length;
    expect([kinds('agent'), kinds('step'), kinds('tool')]).toEqual([
      count('agent-start'),
      count('step-start'),
      count('tool-call'),
    ]);
    expect(spans.every(({ start, end = Infinity }) => start <= end)).toBe(true);
  });
});
