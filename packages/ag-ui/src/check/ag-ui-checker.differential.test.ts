import { check } from '@intertie/conformance';
import { arbitraryRun } from '@intertie/conformance/arbitraries';
import { seal, transcode } from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verify } from '../../test/ag-ui-client.ts';
import { agUi } from '../ag-ui-protocol.ts';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import type { AGUIRule } from './ag-ui-rules.ts';
import { createAGUIEncoder } from '../encode/encode-ag-ui.ts';

/** Rules that the verifier of the 1.0 client does not check. */
const unverified: ReadonlySet<string> = new Set<AGUIRule>([
  'shape',
  'terminal',
  'protocol-version',
  'run-ids',
  'interrupt-ids',
  'empty-delta',
  'result-once',
  'message-id',
  'pending-calls',
  'cancelled-result',
  'snapshot-encrypted',
  'usage',
  'unknown-field',
  'metadata-key',
  'custom-name',
  'retold',
  'reopened',
  'unanswered-call',
  'client-tool',
  'patch-applies',
  'activity-known',
  'subagent-first',
  'chunk-mixed',
]);

const streams = arbitraryRun().map(({ run, events, end }) =>
  transcode(
    createAGUIEncoder({ protocolVersion: '1.0', sendInternal: true }),
    transcode(
      seal(run, () => undefined),
      events,
      end,
    ),
  ),
);
const mutations = fc.array(fc.tuple(fc.constantFrom('drop', 'repeat', 'swap'), fc.nat()), { maxLength: 3 });

function mutate(stream: readonly AGUIEvent[], how: ReadonlyArray<[string, number]>): AGUIEvent[] {
  const events = [...stream];
  for (const [kind, pick] of how) {
    const index = pick % Math.max(events.length, 1);
    if (kind === 'drop') events.splice(index, 1);
    else if (kind === 'repeat') events.splice(index, 0, ...events.slice(index, index + 1));
    else events.splice(index, 2, ...events.slice(index, index + 2).toReversed());
  }
  return events;
}

describe('createAGUIChecker', { timeout: 60_000 }, () => {
  it('reports nothing for the output of our encoder', () => {
    fc.assert(
      fc.property(streams, (events) => {
        expect(check(agUi, events).violations).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it('agrees with the official verifier on mutated streams', async () => {
    await fc.assert(
      fc.asyncProperty(streams, mutations, async (stream, how) => {
        const events = mutate(stream, how);
        const found = check(agUi, events).violations.filter(({ rule }) => !unverified.has(rule));
        const fatal = await verify(events);
        expect({ found: found.length > 0, fatal }).toEqual({ found: fatal !== undefined, fatal });
      }),
      { numRuns: 300 },
    );
  });

  it('agrees with the official verifier on owners', async () => {
    const tampered = fc.array(fc.tuple(fc.nat(), fc.constantFrom('s1', 'agent-1', 'agent-2', undefined)), {
      minLength: 1,
      maxLength: 2,
    });
    await fc.assert(
      fc.asyncProperty(streams, tampered, async (stream, how) => {
        const events = structuredClone(stream);
        for (const [pick, owner] of how) {
          const event = events[pick % events.length]! as { type: string; subagentRunId?: string };
          if (/^(?:RUN|SUBAGENT|STEP)_/.test(event.type)) continue;
          if (owner === undefined) delete event.subagentRunId;
          else event.subagentRunId = owner;
        }
        const found = check(agUi, events).violations.filter(({ rule }) => !unverified.has(rule));
        const fatal = await verify(events);
        expect({ found: found.length > 0, fatal }).toEqual({ found: fatal !== undefined, fatal });
      }),
      { numRuns: 200 },
    );
  });

  const text = { type: 'TEXT_MESSAGE_START', messageId: 'm' };
  const call = { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'act' };
  const finished = (more: object): object => ({ type: 'RUN_FINISHED', threadId: 't', runId: 'r', ...more });
  const result = { type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c', content: '' };

  it.each<[AGUIRule, object[]]>([
    ['state-delta-field', [{ type: 'STATE_DELTA', patch: [] }]],
    ['activity-delta-field', [{ type: 'ACTIVITY_DELTA', messageId: 'a', activityType: 'PLAN', delta: [] }]],
    ['empty-delta', [{ type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', delta: '' }]],
    ['chunk-id', [{ type: 'TOOL_CALL_CHUNK', delta: '{}' }]],
    ['chunk-id', [{ type: 'TOOL_CALL_CHUNK', toolCallId: 'c', delta: '{}' }]],
    [
      'chunk-conflict',
      [
        { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', delta: 'a' },
        { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', role: 'user', delta: 'b' },
      ],
    ],
    ['known-type', [{ type: 'THINKING_HARD' }]],
    ['shape', [{ type: 'TEXT_MESSAGE_START', messageId: 'm', name: null }]],
    ['owner', [text, { type: 'TEXT_MESSAGE_END', messageId: 'm', subagentRunId: 's' }]],
    ['owner', [text, { ...call, parentMessageId: 'm', subagentRunId: 's' }]],
    [
      'owner',
      [
        { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: 'assistant', subagentRunId: 's' }] },
        { ...text, subagentRunId: 'other' },
      ],
    ],
    ['subagent-null', [{ ...text, subagentRunId: null }]],
    [
      'subagent-null',
      [finished({ outcome: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'x', subagentRunId: null }] } })],
    ],
    ['message-id', [text, { type: 'REASONING_MESSAGE_START', messageId: 'm', role: 'reasoning' }]],
    ['message-id', [text, result]],
    ['pending-calls', [call, result, finished({ outcome: { type: 'success', pendingToolCallIds: ['c'] } })]],
    ['cancelled-result', [finished({ outcome: { type: 'cancelled' }, result: 1 })]],
    [
      'snapshot-encrypted',
      [
        { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'm', encryptedValue: 'x' },
        { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: 'reasoning', content: '' }] },
      ],
    ],
    ['usage', [finished({ usage: [{ model: 'a' }, { model: 'a' }] })]],
    ['usage', [finished({ usage: [{ inputTokens: 1, cachedInputTokens: 2 }] })]],
  ])('reports %s', (rule, events) => {
    const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r', protocolVersion: '1.0' };
    expect(check(agUi, [started, ...events]).violations.map((violation) => violation.rule)).toContain(rule);
  });
});
