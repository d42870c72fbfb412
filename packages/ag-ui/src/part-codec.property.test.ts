import { createFullStreamDecoder } from '@intertie/ai-sdk';
import { compose, seal, toReadableStream, type Loss } from '@intertie/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AGUIEncoderOptions } from './ag-ui-encoder-options.ts';
import type { AGUIEvent } from './ag-ui-event.ts';
import { toAGUIFrame } from './ag-ui-frame.ts';
import { writeFeedSSE } from './ag-ui-sse.ts';
import { AGUIEncoder } from './encode-ag-ui.ts';
import { generateAGUI } from './generate-ag-ui.ts';
import { createPartCodec } from './part-codec.ts';
import { partFeed, type PartFeed } from './part-feed.ts';
import { runInput } from '../../core/test/run-input.ts';

const run = runInput({ runId: 'r', threadId: 't', messageId: 'm' });

/** As events one by one, or as bytes. */
const doors = {
  events: async (feed: PartFeed): Promise<string> => {
    const events: AGUIEvent[] = [];
    for await (const event of generateAGUI(feed)) events.push(event);
    return events.map(toAGUIFrame).join('');
  },
  bytes: (feed: PartFeed): Promise<string> => new Response(writeFeedSSE(feed, {})).text(),
};

/** With the way past the canonical events, or without it. */
async function encode(
  parts: readonly unknown[],
  options: AGUIEncoderOptions,
  door: keyof typeof doors,
  isFused: boolean,
): Promise<{ frames: string; losses: Loss[] }> {
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
  const frames = await doors[door](partFeed({ parts: () => toReadableStream(parts), codec }));
  return { frames, losses };
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

it('words past the canonical events are what the three codecs in a row would say, whatever comes between', async () => {
  await fc.assert(
    fc.asyncProperty(parts, options, async (said, how) => {
      const apart = await encode(said, how, 'events', false);
      expect(await encode(said, how, 'events', true)).toEqual(apart);
      expect(await encode(said, how, 'bytes', true)).toEqual(apart);
    }),
    { numRuns: 300 },
  );
});

it('words after nothing was said are of their own part, and not of the one before', async () => {
  const said = [
    ...opening,
    { type: 'text-delta', id: '0', text: 'zero' },
    { type: 'text-delta', id: '1', text: '' },
    { type: 'text-delta', id: '1', text: 'one' },
  ];
  const { frames } = await encode(said, { protocolVersion: '1.0' }, 'events', true);
  const contents = frames.split('\n\n').filter((frame) => frame.includes('"TEXT_MESSAGE_CONTENT"'));
  const [zero, one] = contents.map((frame) => JSON.parse(frame.slice(6)) as { messageId: string; delta: string });
  expect([contents.length, zero?.delta, one?.delta]).toEqual([2, 'zero', 'one']);
  expect(zero?.messageId).not.toBe(one?.messageId);
});

const signed = { text: '', providerMetadata: { p: { signature: 's' } } };
it.each([
  ['a first chunk', [{ type: 'text-start', id: '0' }]],
  [
    'another turn that is still open',
    [
      { type: 'start-step' },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', text: 'a' },
      { type: 'start-step' },
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', text: 'b' },
    ],
  ],
])('words after a delta without any say all that is said of %s', async (_, before) => {
  const more = ['c', 'd'].map((text) => ({ type: 'text-delta', id: '0', text }));
  const said = [...before, { type: 'text-delta', id: '0', ...signed }, ...more];
  const how: AGUIEncoderOptions = { protocolVersion: '1.0', form: 'chunks', result: 'text' };
  const finish = { type: 'finish', finishReason: 'stop' };
  const apart = await encode([...said, finish], how, 'events', false);
  expect(apart.frames).toContain('"delta":"d"');
  expect(await encode([...said, finish], how, 'events', true)).toEqual(apart);
  expect(await encode([...said, finish], how, 'bytes', true)).toEqual(apart);
});
