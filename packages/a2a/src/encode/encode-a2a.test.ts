import { arbitraryContinuation, arbitraryRun } from '@intertie/conformance/arbitraries';
import { seal, transcode, type AgentEvent, type Loss, type RunInput } from '@intertie/core';
import type { Report } from '@intertie/core/internal';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createA2AChecker } from '../check/a2a-checker.ts';
import type { A2AStreamItem } from '../shared/a2a-types.ts';
import { createA2AEncoder, type A2AEncoderOptions } from './encode-a2a.ts';

const start: AgentEvent = { type: 'run-start', runId: 'r', threadId: 'c', messageId: 't', at: 0 };
const end: AgentEvent = { type: 'run-end', outcome: 'complete', at: 1000 };
const task = {
  id: 't',
  contextId: 'c',
  status: { state: 'TASK_STATE_WORKING', timestamp: '1970-01-01T00:00:00.000Z' },
};
const completed = { state: 'TASK_STATE_COMPLETED', timestamp: '1970-01-01T00:00:01.000Z' };
const ids = { taskId: 't', contextId: 'c' };

function encode(events: AgentEvent[], options: A2AEncoderOptions = {}): { items: A2AStreamItem[]; losses: string[] } {
  const losses: string[] = [];
  const onLoss = ({ what }: Loss): void => void losses.push(what);
  return { items: transcode(createA2AEncoder({ onLoss, ...options }), events), losses };
}

function check(items: readonly unknown[]): string[] {
  const violations: string[] = [];
  const report: Report = {
    violation: (rule, message) => void violations.push(`${rule}: ${message}`),
    loss: () => undefined,
  };
  const checker = createA2AChecker();
  for (const item of items) checker.feed(item, report);
  checker.end(report);
  return violations;
}

describe('createA2AEncoder', () => {
  it('encodes text as an artifact that grows', () => {
    const { items, losses } = encode([
      start,
      { type: 'text-start', id: 'p' },
      { type: 'text-delta', id: 'p', delta: 'Hel' },
      { type: 'text-delta', id: 'p', delta: 'lo' },
      { type: 'text-end', id: 'p' },
      end,
    ]);
    expect(items).toEqual([
      { task },
      { artifactUpdate: { ...ids, artifact: { artifactId: 'p', parts: [{ text: 'Hel' }] } } },
      { artifactUpdate: { ...ids, artifact: { artifactId: 'p', parts: [{ text: 'lo' }] }, append: true } },
      {
        artifactUpdate: { ...ids, artifact: { artifactId: 'p', parts: [{ text: '' }] }, append: true, lastChunk: true },
      },
      { statusUpdate: { ...ids, status: completed } },
    ]);
    expect(losses).toEqual([]);
  });

  it.each<{ event: AgentEvent; part: object; name?: string }>([
    {
      event: { type: 'file', id: 'f', data: 'aGk=', mimeType: 'text/plain' },
      part: { raw: 'aGk=', mediaType: 'text/plain' },
    },
    {
      event: { type: 'file', id: 'f', url: 'https://x/a.png', filename: 'a.png' },
      part: { url: 'https://x/a.png', filename: 'a.png' },
      name: 'a.png',
    },
    { event: { type: 'data', id: 'f', name: 'chart', data: { a: 1 } }, part: { data: { a: 1 } }, name: 'chart' },
  ])('encodes $event.type as an artifact with one part', ({ event, part, name }) => {
    const { items } = encode([start, event, end]);
    const artifact = { artifactId: 'f', ...(name !== undefined && { name }), parts: [part] };
    expect(items[1]).toEqual({ artifactUpdate: { ...ids, artifact, lastChunk: true } });
  });

  it('sends changed data again as a whole', () => {
    const { items } = encode([
      start,
      { type: 'data', id: 'd', name: 'n', data: { a: 1 } },
      { type: 'data-delta', id: 'd', patch: [{ op: 'add', path: '/b', value: 2 }] },
    ]);
    expect(items[2]).toMatchObject({ artifactUpdate: { artifact: { parts: [{ data: { a: 1, b: 2 } }] } } });
  });

  it.each<{ end: Partial<AgentEvent>; state: string; text?: string }>([
    { end: { outcome: 'complete' }, state: 'TASK_STATE_COMPLETED' },
    { end: { outcome: 'aborted' }, state: 'TASK_STATE_CANCELED' },
    { end: { outcome: 'error', error: { message: 'No.' } }, state: 'TASK_STATE_FAILED', text: 'No.' },
    { end: { outcome: 'paused', waitingFor: [{ type: 'message' }] }, state: 'TASK_STATE_COMPLETED' },
  ])('encodes $end.outcome as $state', ({ end: fields, state, text }) => {
    const { items } = encode([start, { type: 'run-end', ...fields } as AgentEvent]);
    const message = text === undefined ? {} : { message: { parts: [{ text }] } };
    expect(items.at(-1)).toMatchObject({ statusUpdate: { status: { state, ...message } } });
  });

  it('describes questions and client tools in the status of a paused task', () => {
    const { items } = encode([
      start,
      { type: 'tool-call', toolCallId: 'call', toolName: 'send', input: { to: 'Ada' } },
      { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'call' },
      { type: 'tool-call', toolCallId: 'page', toolName: 'locate', input: {}, executor: 'client' },
      {
        type: 'run-end',
        outcome: 'paused',
        waitingFor: [
          { type: 'question', questionId: 'q' },
          { type: 'tool', toolCallId: 'page' },
        ],
      },
    ]);
    expect(items.at(-1)).toMatchObject({
      statusUpdate: {
        status: {
          state: 'TASK_STATE_INPUT_REQUIRED',
          message: {
            role: 'ROLE_AGENT',
            parts: [
              { text: 'Approve send({"to":"Ada"})?\nThe agent needs the result of locate({}).' },
              { data: { questionId: 'q', kind: 'approval', tool: 'send', toolCallId: 'call', input: { to: 'Ada' } } },
              { data: { questionId: 'page', kind: 'client-tool', tool: 'locate', input: {} } },
            ],
          },
        },
      },
    });
  });

  it('reports what A2A cannot carry', () => {
    const { items, losses } = encode([
      start,
      { type: 'agent-start', agentId: 'a', name: 'A', kind: 'agent' },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
      { type: 'text-start', id: 'i', internal: true },
      { type: 'text-delta', id: 'i', delta: 'secret' },
      { type: 'text-end', id: 'i' },
      { type: 'state-snapshot', state: {} },
      end,
    ]);
    expect(losses).toEqual(['agent', 'reasoning', 'text between agents', 'state']);
    expect(items).toHaveLength(2);
  });

  it('reports no call that the client answers', () => {
    const { losses } = encode([
      start,
      { type: 'tool-call', toolCallId: 'page', toolName: 'locate', input: {}, executor: 'client' },
      { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'page' }] },
    ]);
    expect(losses).toEqual([]);
  });

  it('reports the parts that are missing in the task of a continuation', () => {
    const { losses } = encode([
      { ...start, resumes: 'r0' },
      {
        type: 'message-snapshot',
        content: {
          format: 2,
          parts: [
            { type: 'reasoning', reasoning: 'Hm' },
            { type: 'text', text: 'secret', internal: true },
            { type: 'tool-invocation', toolCallId: 'c', toolName: 'clock', state: 'result', args: {}, result: 12 },
            { type: 'text', text: 'Twelve.' },
          ],
        },
      },
      end,
    ]);
    expect(losses).toEqual(['reasoning', 'text between agents', 'tool call']);
  });

  it('reports a call whose input is streamed once', () => {
    const { losses } = encode([
      start,
      { type: 'tool-input-start', toolCallId: 'c', toolName: 'clock' },
      { type: 'tool-input-delta', toolCallId: 'c', delta: '{}' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'clock', input: {} },
      { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 12 },
      end,
    ]);
    expect(losses).toEqual(['tool call', 'tool result']);
  });

  it('sends the artifacts of the message that a continuation extends with the task', () => {
    const { items } = encode([
      { ...start, resumes: 'r0' },
      { type: 'message-snapshot', content: { format: 2, parts: [{ type: 'text', id: 'p', text: 'Before.' }] } },
      end,
    ]);
    expect(items[0]).toEqual({ task: { ...task, artifacts: [{ artifactId: 'p', parts: [{ text: 'Before.' }] }] } });
  });

  it('sends data of the message that a continuation extends again when they change', () => {
    const { items, losses } = encode([
      { ...start, resumes: 'r0' },
      {
        type: 'message-snapshot',
        content: { format: 2, parts: [{ type: 'data', id: 'd', name: 'n', data: { a: 1 } }] },
      },
      { type: 'data-delta', id: 'd', patch: [{ op: 'add', path: '/b', value: 2 }] },
    ]);
    expect(items[1]).toMatchObject({ artifactUpdate: { artifact: { name: 'n', parts: [{ data: { a: 1, b: 2 } }] } } });
    expect(losses).toEqual([]);
  });

  it('empties the artifacts of a discarded step', () => {
    const { items } = encode([
      start,
      { type: 'step-start', stepId: 's' },
      { type: 'text-start', id: 'p', stepId: 's' },
      { type: 'text-delta', id: 'p', delta: 'Wrong' },
      { type: 'text-end', id: 'p' },
      { type: 'step-end', stepId: 's', discarded: true },
    ]);
    expect(items.at(-1)).toEqual({
      artifactUpdate: { ...ids, artifact: { artifactId: 'p', parts: [{ text: '' }] }, lastChunk: true },
    });
  });

  it('opens with the task so far, and continues its artifacts', () => {
    const encoder = createA2AEncoder();
    const items: A2AStreamItem[] = [];
    const emit = (item: A2AStreamItem): void => void items.push(item);
    const events: AgentEvent[] = [
      start,
      { type: 'text-start', id: 'p' },
      { type: 'text-delta', id: 'p', delta: 'Hel' },
    ];
    encoder.open?.({ events }, emit);
    encoder.feed({ type: 'text-delta', id: 'p', delta: 'lo' }, emit);
    expect(items).toEqual([
      { task: { ...task, artifacts: [{ artifactId: 'p', parts: [{ text: 'Hel' }] }] } },
      { artifactUpdate: { ...ids, artifact: { artifactId: 'p', parts: [{ text: 'lo' }] }, append: true } },
    ]);
  });

  it.each([false, true])('encodes every run as a valid stream, with the extension: %s', (extension) => {
    const valid = (run: RunInput, events: AgentEvent[]): void => {
      const sealed = transcode(
        seal(run, () => undefined),
        events,
      );
      expect(check(transcode(createA2AEncoder({ extension }), sealed))).toEqual([]);
    };
    fc.assert(fc.property(arbitraryRun(), ({ run, events }) => valid(run, events)));
    fc.assert(fc.property(arbitraryContinuation(), ({ continued: { run, events } }) => valid(run, events)));
  });
});
