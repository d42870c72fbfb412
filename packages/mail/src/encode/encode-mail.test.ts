import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from '@intertie/conformance';
import { arbitraryRun } from '@intertie/conformance/arbitraries';
import { parseTape, seal, transcode, type AgentEvent, type Loss, type RunInput } from '@intertie/core';
import { createMAILDecoder } from '../decode/decode-mail.ts';
import { mailProtocol } from '../mail-protocol.ts';
import type { MAILFrame } from '../shared/mail-event.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runInput } from '../../../core/test/run-input.ts';
import { createMAILEncoder } from './encode-mail.ts';

const run: RunInput = runInput({ runId: 'r', threadId: 'task', messageId: 'm' });

function encode(events: Iterable<AgentEvent>): { frames: unknown[]; losses: Loss[] } {
  const losses: Loss[] = [];
  return {
    frames: transcode(
      createMAILEncoder(run, (loss) => void losses.push(loss)),
      events,
    ),
    losses,
  };
}

const ann: AgentEvent[] = [{ type: 'agent-start', agentId: 'a', name: 'ann', kind: 'agent' }];
const text = (id: string, delta: string, fields: object = {}): AgentEvent[] => [
  { type: 'text-start', id, agentId: 'a', ...fields },
  { type: 'text-delta', id, delta },
  { type: 'text-end', id },
];
const call: AgentEvent = { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: { q: 1 }, agentId: 'a' };

function roundTrip(events: AgentEvent[]): AgentEvent[] {
  const frames = encode(events).frames as MAILFrame[];
  expect(check(mailProtocol, frames).violations).toEqual([]);
  return transcode(createMAILDecoder(run), frames);
}

it('round-trips agents, reasoning, tool calls and the answer', () => {
  const events = roundTrip([
    ...ann,
    { type: 'reasoning-start', id: 't', agentId: 'a' },
    { type: 'reasoning-delta', id: 't', delta: 'Hm.' },
    { type: 'reasoning-end', id: 't' },
    ...text('0', 'Let me look.'),
    call,
    { type: 'tool-result', toolCallId: 'c', status: 'ok', output: { found: 1 } },
    ...text('1', 'Found.'),
    { type: 'run-end', outcome: 'complete' },
  ]);
  expect(events).toContainEqual(expect.objectContaining({ type: 'agent-start', name: 'ann' }));
  expect(events).toContainEqual(expect.objectContaining({ type: 'tool-call', toolName: 'look', input: { q: 1 } }));
  expect(events).toContainEqual(expect.objectContaining({ type: 'tool-result', status: 'ok' }));
  expect(events).toContainEqual(expect.objectContaining({ type: 'text-delta', delta: 'Found.' }));
  expect(JSON.stringify(events)).toContain('Let me look.');
  expect(JSON.stringify(events)).toContain('Hm.');
  expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
});

it('encodes a pending client tool as a breakpoint', () => {
  const waitingFor = [{ type: 'tool' as const, toolCallId: 'c' }];
  const events = roundTrip([...ann, call, { type: 'run-end', outcome: 'paused', waitingFor }]);
  expect(events.at(-1)).toMatchObject({ outcome: 'paused', waitingFor: [{ type: 'tool' }] });
});

it('reports texts of other agents and questions as losses', () => {
  const { losses } = encode([
    ...text('0', 'I'),
    { type: 'agent-start', agentId: 'b', name: 'bob', kind: 'agent' },
    ...text('1', 'too', { agentId: 'b' }),
    { type: 'question', questionId: 'q', kind: 'approval', message: 'May I?' },
    { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q' }] },
  ]);
  expect(losses.map(({ what }) => what)).toEqual(['text', 'question']);
});

it('encodes an error and an abort as task_error', () => {
  expect(roundTrip([{ type: 'run-end', outcome: 'error', error: { message: 'No.' } }]).at(-1)).toMatchObject({
    outcome: 'error',
  });
  expect(roundTrip([{ type: 'run-end', outcome: 'aborted' }]).at(-1)).toMatchObject({ outcome: 'error' });
});

it('ignores a time outside the range of a date', () => {
  expect(encode([{ type: 'run-end', outcome: 'complete', at: 1e30 }]).frames).toHaveLength(4);
});

it('encodes any run without rule violations', () => {
  fc.assert(
    fc.property(arbitraryRun(), ({ run: input, events, end }) => {
      const sealed = transcode(
        seal(input, () => undefined),
        events,
        end,
      );
      expect(check(mailProtocol, encode(sealed).frames).violations).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

it('encodes a tape of the corpus without rule violations', () => {
  const tape = parseTape(readFileSync(join(import.meta.dirname, '../../../conformance/corpus/swarm-asks.tape.jsonl')));
  const { frames } = encode(tape.items.map(({ item }) => item as AgentEvent));
  expect(check(mailProtocol, frames).violations).toEqual([]);
});
