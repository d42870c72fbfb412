import { canonical, check } from '@intertie/conformance';
import { compose, foldEvents, seal, type AgentEvent } from '@intertie/core';
import { describe, expect, test } from 'vitest';
import { runInput } from '../../test/run-input.ts';
import { createOpenHarnessServerDecoder } from './decode-open-harness-server.ts';

function decode(items: readonly unknown[]): AgentEvent[] {
  const events: AgentEvent[] = [];
  const codec = compose(
    createOpenHarnessServerDecoder(runInput()),
    seal(runInput(), () => undefined),
  );
  const emit = (event: AgentEvent): void => void events.push(event);
  for (const item of items) codec.feed(item, emit);
  codec.end({ reason: 'eof' }, emit);
  expect(check(canonical, events).violations).toEqual([]);
  expect(events.filter(({ type }) => type === 'raw')).toEqual([]);
  return events;
}
const getParts = (events: AgentEvent[]) => foldEvents(events)?.content.parts.map(({ type, ...part }) => [type, part]);

describe('signals of v0.3', () => {
  const signal = (name: string, payload: object, n: number): object => ({
    id: `sig_${n}`,
    name,
    payload,
    timestamp: new Date(n).toISOString(),
    source: { agent: 'writer', harness: 'claude' },
  });

  test('decodes signals of v0.3', () => {
    const events = decode([
      signal('workflow:start', { input: 'hi', runId: 'w1' }, 1),
      signal('agent:activated', { trigger: 'workflow:start' }, 2),
      signal('harness:start', { input: 'hi' }, 3),
      signal('thinking:delta', { content: 'hm' }, 4),
      signal('thinking:complete', { content: 'hm' }, 5),
      signal('text:delta', { content: 'Hel' }, 6),
      signal('text:delta', { content: 'lo' }, 7),
      signal('text:complete', { content: 'Hello' }, 8),
      signal('tool:call', { id: 't1', name: 'Read', input: { file: 'a' } }, 9),
      signal('tool:result', { id: 't1', name: 'Read', result: 'A' }, 10),
      signal('tool:call', { id: 't2', name: 'Read', input: { file: 'b' } }, 11),
      signal('tool:result', { id: 't2', name: 'Read', result: undefined, error: 'no such file' }, 12),
      signal('harness:error', { code: 'rate_limit', message: 'Slow down.', recoverable: true }, 13),
      signal('text:complete', { content: 'Done.' }, 14),
      signal('harness:end', { output: 'Done.', durationMs: 9 }, 15),
      signal('workflow:end', { durationMs: 10, output: { answer: 1 }, runId: 'w1' }, 16),
    ]);
    expect(getParts(events)).toMatchObject([
      ['reasoning', { reasoning: 'hm' }],
      ['text', { text: 'Hello' }],
      ['tool-invocation', { toolName: 'Read', args: { file: 'a' }, state: 'result', result: 'A' }],
      ['tool-invocation', { toolName: 'Read', args: { file: 'b' } }],
      ['text', { text: 'Done.' }],
    ]);
    expect(events.find(({ type }) => type === 'agent-start')).toMatchObject({ name: 'writer', at: 2 });
    expect(events.find(({ type }) => type === 'notice')).toMatchObject({ level: 'error', code: 'rate_limit' });
    expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete', result: { answer: 1 } });
  });

  test('ends the run with an unrecoverable error', () => {
    const events = decode([
      signal('text:delta', { content: 'Hel' }, 1),
      signal('harness:error', { code: 'auth', message: 'No key.', recoverable: false }, 2),
    ]);
    expect(events.at(-1)).toMatchObject({ outcome: 'error', error: { message: 'No key.', code: 'auth' } });
  });
});

describe('events of core-v2, in their envelopes', () => {
  const event = (name: string, payload: object): object => ({
    type: 'event',
    data: { id: name, name, payload, timestamp: '2026-01-22T10:00:00.000Z' },
  });

  test('decodes events of core-v2', () => {
    const events = decode([
      event('user:input', { text: 'hi' }),
      event('agent:started', { agentName: 'planner', reason: 'first' }),
      event('text:delta', { delta: 'Hel', agentName: 'planner' }),
      event('text:complete', { fullText: 'Hello', agentName: 'planner' }),
      event('tool:called', { toolName: 'Read', toolId: 't1', input: {} }),
      event('tool:result', { toolId: 't1', output: 'nope', isError: true }),
      event('agent:completed', { agentName: 'planner', outcome: 'ok' }),
      { type: 'state', data: { count: 1 } },
      { type: 'done' },
    ]);
    expect(getParts(events)).toMatchObject([
      ['text', { text: 'Hello' }],
      ['tool-invocation', { toolName: 'Read' }],
    ]);
    expect(events.find(({ type }) => type === 'agent-end')).toMatchObject({ result: 'ok' });
    expect(events.find(({ type }) => type === 'state-snapshot')).toMatchObject({ state: { count: 1 } });
    expect(events.at(-1)).toMatchObject({ outcome: 'complete' });
  });

  test('ends the run with the error and keeps the text', () => {
    const events = decode([event('text:delta', { delta: 'Hel' }), { type: 'error', data: { message: 'It broke.' } }]);
    expect(getParts(events)).toMatchObject([['text', { text: 'Hel' }]]);
    expect(events.at(-1)).toMatchObject({ outcome: 'error', error: { message: 'It broke.' } });
  });
});
