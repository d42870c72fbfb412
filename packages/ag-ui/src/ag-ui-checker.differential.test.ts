import { check } from '@intertie/conformance';
import { arbitraryRun } from '@intertie/conformance/arbitraries';
import { seal, transcode } from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verify } from '../test/ag-ui-client.ts';
import { agUi } from './ag-ui-dialect.ts';
import type { AGUIEvent } from './ag-ui-event.ts';
import type { AGUIRule } from './ag-ui-rules.ts';
import { createAGUIEncoder } from './encode-ag-ui.ts';

/** Rules that the client of 1.0 lets pass, or that its schema and not its verifier checks. */
const manners: ReadonlySet<string> = new Set<AGUIRule>([
  'shape',
  'terminal',
  'protocol-version',
  'run-ids',
  'interrupt-ids',
  'empty-delta',
  'result-once',
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

describe('our rules and the real verifier', { timeout: 60_000 }, () => {
  it('find nothing in what our encoder writes', () => {
    fc.assert(
      fc.property(streams, (events) => {
        expect(check(agUi, events).violations).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it('agree on streams that were tampered with', async () => {
    await fc.assert(
      fc.asyncProperty(streams, mutations, async (stream, how) => {
        const events = mutate(stream, how);
        const found = check(agUi, events).violations.filter(({ rule }) => !manners.has(rule));
        const fatal = await verify(events);
        expect({ found: found.length > 0, fatal }).toEqual({ found: fatal !== undefined, fatal });
      }),
      { numRuns: 300 },
    );
  });

  it.each<[AGUIRule, object]>([
    ['state-delta-field', { type: 'STATE_DELTA', patch: [] }],
    ['activity-delta-field', { type: 'ACTIVITY_DELTA', messageId: 'a', activityType: 'PLAN', delta: [] }],
    ['empty-delta', { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', delta: '' }],
    ['chunk-id', { type: 'TOOL_CALL_CHUNK', delta: '{}' }],
    ['known-type', { type: 'THINKING_HARD' }],
    ['shape', { type: 'TEXT_MESSAGE_START', messageId: 'm', name: null }],
  ])('name %s', (rule, event) => {
    const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r', protocolVersion: '1.0' };
    const finished = { type: 'RUN_ERROR', message: 'Enough.' };
    expect(check(agUi, [started, event, finished]).violations.map((violation) => violation.rule)).toContain(rule);
  });
});
