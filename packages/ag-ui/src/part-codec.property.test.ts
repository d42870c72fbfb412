import { createFullStreamDecoder } from '@intertie/ai-sdk';
import { compose, seal, type Loss } from '@intertie/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AGUIEncoderOptions } from './ag-ui-encoder-options.ts';
import type { AGUIEvent } from './ag-ui-event.ts';
import { AGUIEncoder } from './encode-ag-ui.ts';
import { createPartCodec } from './part-codec.ts';
import { runInput } from '../../core/test/run-input.ts';

const run = runInput({ runId: 'r', threadId: 't', messageId: 'm' });

/** With the way past the canonical events, or without it. */
function encode(parts: readonly unknown[], options: AGUIEncoderOptions, isFused: boolean) {
  const losses: Loss[] = [];
  const onLoss = (loss: Loss): void => void losses.push(loss);
  let time = 0;
  const decoder = createFullStreamDecoder(run, { onLoss });
  const codec = createPartCodec({
    decoder: compose(decoder, seal(run, onLoss)),
    encoder: new AGUIEncoder({ ...options, onLoss }),
    now: () => (time += 1),
    ...(isFused && { more: decoder.more }),
  });
  const events: AGUIEvent[] = [];
  const emit = (event: AGUIEvent): void => void events.push(event);
  for (const part of parts) {
    const event = codec.more(part);
    if (event !== undefined) events.push(event);
    else codec.feed(part, emit);
  }
  codec.end({ reason: 'eof' }, emit);
  return { events, losses };
}

const id = fc.constantFrom<unknown>('0', '0', '1', '1', 1, undefined);
const words = fc.constantFrom<unknown>('a', 'b', '{"b":"c"}\n', '', undefined);
const providerMetadata = fc.constantFrom<unknown>(undefined, undefined, undefined, null, { p: { signature: 's' } });
const deltas = fc.oneof(
  fc.record({
    type: fc.constantFrom('text-delta', 'reasoning-delta'),
    id,
    text: words,
    providerMetadata,
  }),
  fc.record({ type: fc.constant('tool-input-delta'), id, delta: words, providerMetadata }),
);
const name = { toolName: fc.constant('look') };
const others = fc.oneof(
  fc.record({ type: fc.constantFrom('text-start', 'reasoning-start', 'text-end', 'reasoning-end'), id }),
  fc.record({ type: fc.constant('tool-input-start'), id, ...name }),
  fc.record({ type: fc.constant('tool-input-end'), id }),
  fc.record({
    type: fc.constant('tool-call'),
    toolCallId: id,
    ...name,
    input: fc.constantFrom<unknown>({}, { b: 'c' }),
  }),
  fc.record({ type: fc.constant('tool-result'), toolCallId: id, ...name, output: fc.constant(1) }),
  fc.record({ type: fc.constantFrom('start-step', 'finish-step', 'ping', 'error', 'unknown') }),
  fc.record({ type: fc.constantFrom('finish', 'abort'), finishReason: fc.constant('stop') }),
);
/** All of them open, and then mostly words: few that come by chance would be of something open. */
const opening = ['0', '1'].flatMap((one) => [
  { type: 'text-start', id: one },
  { type: 'reasoning-start', id: one },
  { type: 'tool-input-start', id: one, toolName: 'look' },
]);
const parts = fc
  .array(fc.oneof({ weight: 9, arbitrary: deltas }, { weight: 2, arbitrary: others }), { maxLength: 50, size: 'max' })
  .map((said) => [...opening, ...said]);
const options = fc.record<AGUIEncoderOptions>(
  {
    protocolVersion: fc.constantFrom('1.0', '0.0.45'),
    form: fc.constantFrom('triads', 'chunks'),
    stepNames: fc.constantFrom('turns', 'phases'),
    timestamps: fc.boolean(),
    sendReasoning: fc.boolean(),
    messages: fc.constant([]),
    snapshot: fc.boolean(),
    result: fc.constantFrom('run', 'text'),
  },
  { requiredKeys: [] },
);

it('words past the canonical events are what the three codecs in a row would say, whatever comes between', () => {
  fc.assert(
    fc.property(parts, options, (said, how) => {
      // Also in what order an event says it, and that it holds nothing else.
      const [fused, apart] = [encode(said, how, true), encode(said, how, false)];
      expect(fused).toStrictEqual(apart);
      expect(JSON.stringify(fused.events)).toBe(JSON.stringify(apart.events));
    }),
    { numRuns: 300 },
  );
});

it('words after nothing was said are of their own part, and not of the one before', () => {
  const said = [
    ...opening,
    { type: 'text-delta', id: '0', text: 'zero' },
    { type: 'text-delta', id: '1', text: '' },
    { type: 'text-delta', id: '1', text: 'one' },
  ];
  const { events } = encode(said, { protocolVersion: '1.0' }, true);
  const contents = events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT');
  expect(contents).toMatchObject([{ delta: 'zero' }, { delta: 'one' }]);
  expect(new Set(contents.map((event) => (event as { messageId: string }).messageId)).size).toBe(2);
});
