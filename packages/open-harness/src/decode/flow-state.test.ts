import { createUIMessageStreamProtocol, createUIMessageEncoder } from '@intertie/ai-sdk';
import { canonical, check } from '@intertie/conformance';
import { compose, transcode } from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decode } from '../../test/decode.ts';
import { traces } from '../../test/traces.ts';
import { createFlowChunks } from '../encode/flow-chunks.ts';
import { createFlowFilter } from './flow-filter.ts';

const real = traces.flatMap(({ events }) => events as unknown[]);
const signals = [
  { type: 'settled', snapshot: { status: 'paused' } },
  { type: 'settled', snapshot: { status: 'aborted' } },
  { type: 'settled' },
  { type: 'drained' },
  { type: 'stopping', by: 'user' },
  { type: 'answered', text: 'yes' },
  { type: 'undelivered' },
];
/** Events with random types and fields. */
const node = { nodeId: fc.constantFrom('a', 'a.b', ''), runId: fc.constantFrom('1', '2', '1:left', '') };
const invented = fc.oneof(
  fc.record({
    type: fc.constantFrom('node:start', 'node:complete', 'node:error', 'agent:start', 'agent:complete'),
    ...node,
  }),
  fc.record({
    type: fc.constantFrom('agent:text', 'agent:text:delta', 'agent:thinking', 'agent:thinking:delta', 'agent:error'),
    content: fc.constantFrom('a', 'ab', '', undefined),
    message: fc.constantFrom('no', undefined),
    ...node,
  }),
  fc.record(
    {
      type: fc.constant('agent:tool'),
      toolName: fc.constantFrom('x', 'y', 'unknown'),
      toolInput: fc.anything(),
      toolOutput: fc.anything(),
      error: fc.constantFrom('', 'bad', 7),
      nodeId: node.nodeId,
      runId: node.runId,
    },
    { requiredKeys: ['type', 'nodeId', 'runId'] },
  ),
  fc.record({ type: fc.constantFrom('flow:start', 'flow:paused', 'flow:resumed', 'flow:aborted') }),
  fc.record({
    type: fc.constant('state:patch'),
    patch: fc.record({
      op: fc.constantFrom('set', 'merge'),
      path: fc.constantFrom('', 'a', 'a.b', 'a.b.c', '__proto__.x'),
      value: fc.anything(),
    }),
  }),
);
const inputs = fc.array(fc.oneof(fc.constantFrom(...real), invented, fc.constantFrom(...signals), fc.anything()), {
  maxLength: 60,
});
const options = fc.record({ pauses: fc.constantFrom('token' as const, 'live' as const), nodeText: fc.boolean() });

describe('arbitrary runtime events in arbitrary order', () => {
  test('decodes to a valid run without repairs by the seal', () => {
    fc.assert(
      fc.property(inputs, options, (items, decoderOptions) => {
        const { events, losses } = decode(items, decoderOptions);
        expect(check(canonical, events).violations).toEqual([]);
        expect(losses.filter(({ kind, what }) => kind === 'repaired' && what in lossCounts)).toEqual([]);
      }),
    );
  });

  test('encodes to a valid UI message stream with any options', () => {
    const show = fc.record({
      sendStepMarkers: fc.boolean(),
      sendFlowMetadata: fc.boolean(),
      sendNodeOutputs: fc.boolean(),
    });
    fc.assert(
      fc.property(inputs, options, show, (items, decoderOptions, shown) => {
        const encoder = compose(createUIMessageEncoder({ version: 6 }), createFlowChunks(shown) as never);
        const events = transcode(createFlowFilter(shown), decode(items, decoderOptions).events);
        const chunks = transcode(encoder, events);
        const { violations } = check(createUIMessageStreamProtocol({ version: 6 }), chunks);
        // Forbidden keys are rejected when a frame is written, which does not happen in one process. Without step markers,
        // text may follow a result in the same step.
        const allowed = new Set(['S14-frame', ...(shown.sendStepMarkers ? [] : ['S13-result'])]);
        expect(violations.filter(({ rule }) => !allowed.has(rule))).toEqual([]);
      }),
    );
  });
});

/** Counts the events that the seal dropped or changed, which are mistakes of the decoder. */
const lossCounts = {
  'text-start': 1,
  'text-delta': 1,
  'text-end': 1,
  'reasoning-start': 1,
  'reasoning-end': 1,
  'tool-call': 1,
  'tool-result': 1,
  'step-start': 1,
  'step-end': 1,
  'agent-start': 1,
  'agent-end': 1,
  'state-delta': 1,
  question: 1,
  answer: 1,
};
