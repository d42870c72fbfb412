import { transformChunks, verifyEvents, type BaseEvent } from '@ag-ui/client';
import { check } from '@intertie/conformance';
import fc from 'fast-check';
import { from, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { agUi } from '../ag-ui-protocol.ts';
import type { AGUIRule } from '../check/ag-ui-rules.ts';

/** Rules whose violation is fatal for a 1.0 client in a stream of chunks. */
const fatal: ReadonlySet<string> = new Set<AGUIRule>([
  'chunk-id',
  'chunk-conflict',
  'chunk-ambiguous',
  'owner',
  'text-open',
  'text-known',
  'call-open',
  'call-known',
  'reasoning-open',
  'reasoning-known',
  'step-open',
  'step-known',
  'finish-closed',
]);

async function runClient(events: readonly object[]): Promise<string | undefined> {
  try {
    const chunks = from(events as BaseEvent[]).pipe(transformChunks(), verifyEvents(false), toArray());
    await lastValueFrom(chunks, { defaultValue: [] });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const lane = maybe(fc.constantFrom('s', 'z'));
const id = fc.constantFrom('m', 'n');
const omitUndefined = (event: { [key: string]: unknown }): object =>
  Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined));

const chunk = fc.oneof(
  fc
    .record({ messageId: maybe(id), subagentRunId: lane, role: maybe(fc.constantFrom('assistant', 'user')) })
    .map((fields) => omitUndefined({ type: 'TEXT_MESSAGE_CHUNK', delta: 'x', ...fields })),
  fc
    .record({ toolCallId: maybe(id), subagentRunId: lane, toolCallName: maybe(fc.constantFrom('act', 'ask')) })
    .map((fields) => omitUndefined({ type: 'TOOL_CALL_CHUNK', delta: 'x', ...fields })),
  fc
    .record({ messageId: maybe(id), subagentRunId: lane })
    .map((fields) => omitUndefined({ type: 'REASONING_MESSAGE_CHUNK', delta: 'x', ...fields })),
);
const other = fc.oneof(
  lane.map((subagentRunId) => omitUndefined({ type: 'CUSTOM', name: 'acme.x', value: 1, subagentRunId })),
  fc.constant({ type: 'RAW', event: 1 }),
  fc.constant({ type: 'STATE_SNAPSHOT', snapshot: 1 }),
  fc.constant({ type: 'MESSAGES_SNAPSHOT', messages: [] }),
  fc.constant({ type: 'ACTIVITY_SNAPSHOT', messageId: 'a', activityType: 'PLAN', content: {} }),
  fc.record({ type: fc.constantFrom('TEXT_MESSAGE_START', 'TEXT_MESSAGE_END'), messageId: id }),
);
const streams = fc.array(fc.oneof({ weight: 4, arbitrary: chunk }, { weight: 1, arbitrary: other }), { maxLength: 8 });

describe('chunks', () => {
  it('rejects exactly the chunks that the official client rejects', async () => {
    await fc.assert(
      fc.asyncProperty(streams, async (middle) => {
        const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r', protocolVersion: '1.0' };
        const events = [started, ...middle, { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }];
        const found = check(agUi, events).violations.filter(({ rule }) => fatal.has(rule));
        const failure = await runClient(events);
        expect({ found: found.length > 0, failure }).toEqual({ found: failure !== undefined, failure });
      }),
      { numRuns: 500 },
    );
  });
});
