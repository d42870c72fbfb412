import { seal, transcode } from '@intertie/core';
import { arbitraryRun } from '@intertie/conformance/arbitraries';
import fc from 'fast-check';
import { createUIMessageEncoder } from '../src/ui-message-stream/encode/encode-ui-message-stream.ts';
import type { UIMessageChunk, UIMessageVersion } from '../src/ui-message-stream/chunk/ui-message-chunk.ts';

const id = fc.constantFrom('a', 'b');
const toolCallId = fc.constantFrom('c', 'd');
const flag = fc.option(fc.boolean(), { nil: undefined });
const text = fc.constantFrom('', 'x', '{"n":', '1}');
const providerMetadata = fc.option(
  fc.constantFrom({ maker: { a: 1 } }, { maker: { b: null } }, { other: {} }, { maker: { a: 1, b: [] } }),
  { nil: undefined, freq: 3 },
);
const messageMetadata = fc.option(fc.constantFrom<unknown>({ n: 1 }, { n: { m: [] } }, null, 'text', 5, {}, []), {
  nil: undefined,
  freq: 2,
});
const call = {
  toolCallId,
  toolName: fc.constantFrom('t', 'u'),
  dynamic: flag,
  providerExecuted: flag,
  providerMetadata,
};
const is = <Type extends string>(...types: Type[]): fc.Arbitrary<Type> => fc.constantFrom(...types);

const chunks6: Array<[weight: number, chunk: fc.Arbitrary<unknown>]> = [
  [3, fc.record({ type: is('text-start', 'reasoning-start'), id, providerMetadata })],
  [4, fc.record({ type: is('text-delta', 'reasoning-delta'), id, delta: text, providerMetadata })],
  [3, fc.record({ type: is('text-end', 'reasoning-end'), id, providerMetadata })],
  [3, fc.record({ type: is('tool-input-start'), ...call })],
  [2, fc.record({ type: is('tool-input-delta'), toolCallId, inputTextDelta: text })],
  [3, fc.record({ type: is('tool-input-available'), ...call, input: fc.constant({}) })],
  [1, fc.record({ type: is('tool-input-error'), ...call, input: fc.constant('{'), errorText: text })],
  [2, fc.record({ type: is('tool-approval-request'), toolCallId, approvalId: id })],
  [
    2,
    fc.record({
      type: is('tool-output-available'),
      toolCallId,
      output: fc.constant(1),
      preliminary: flag,
      providerMetadata,
    }),
  ],
  [1, fc.record({ type: is('tool-output-error'), toolCallId, errorText: text, providerMetadata })],
  [1, fc.record({ type: is('tool-output-denied'), toolCallId })],
  [3, fc.record({ type: is('start-step', 'finish-step') })],
  [1, fc.record({ type: is('start'), messageId: fc.option(is('m', 'n'), { nil: undefined }), messageMetadata })],
  [1, fc.record({ type: is('message-metadata'), messageMetadata })],
  [1, fc.record({ type: is('data-x', 'data-y'), data: text, id: fc.option(id, { nil: undefined }), transient: flag })],
  [1, fc.record({ type: is('source-url'), sourceId: id, url: text })],
  [1, fc.record({ type: is('file'), url: text, mediaType: fc.constant('text/plain') })],
  [1, fc.record({ type: is('finish'), messageMetadata })],
  [1, fc.record({ type: is('error'), errorText: text })],
];
const chunks7: typeof chunks6 = [
  ...chunks6,
  [2, fc.record({ type: is('tool-approval-response'), approvalId: id, approved: fc.boolean(), providerMetadata })],
  [2, fc.constant({ type: 'reset-step' })],
  [1, fc.record({ type: is('custom'), kind: fc.constant('a.b') })],
  [1, fc.record({ type: is('steering-message'), id, parts: fc.constant([{ type: 'text', text: 'Stop.' }]) })],
];

/** Valid chunks in a mostly invalid order. */
export function arbitraryChunks(version: UIMessageVersion): fc.Arbitrary<unknown[]> {
  const weighted = (version === 6 ? chunks6 : chunks7).map(([weight, arbitrary]) => ({ weight, arbitrary }));
  return fc.array(fc.oneof(...weighted), { maxLength: 14, size: 'max' });
}

/** Chunks that the encoder writes for random runs. */
export function arbitraryEncoded(version: UIMessageVersion): fc.Arbitrary<UIMessageChunk[]> {
  return arbitraryRun().map(({ run, events, end }) => {
    const sealed = transcode(
      seal(run, () => undefined),
      events,
      end,
    );
    return transcode(createUIMessageEncoder<7>({ version: version as 7, includeInternal: true }), sealed);
  });
}

type Mutation = [kind: 'drop' | 'repeat' | 'swap' | 'unset' | 'set', place: number, pick: number, value: unknown];

const mutation: fc.Arbitrary<Mutation> = fc.tuple(
  fc.constantFrom('drop', 'repeat', 'swap', 'unset', 'set'),
  fc.nat(),
  fc.nat(),
  fc.constantFrom<unknown>(null, 0, '', 'x', true, {}, [], { a: 'b' }, { a: { b: null } }, [{}], Number.NaN),
);

/** Encoded chunks with some of them dropped, repeated, swapped or changed. */
export function arbitraryMutated(version: UIMessageVersion): fc.Arbitrary<unknown[]> {
  return fc
    .tuple(arbitraryEncoded(version), fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([chunks, all]) => {
      const mutated: unknown[] = structuredClone(chunks);
      for (const change of all) mutate(mutated, change);
      return mutated;
    });
}

function mutate(chunks: unknown[], [kind, place, pick, value]: Mutation): void {
  const index = place % chunks.length;
  const chunk = chunks[index];
  if (kind === 'drop') chunks.splice(index, 1);
  else if (kind === 'repeat') chunks.splice(pick % chunks.length, 0, structuredClone(chunk));
  else if (kind === 'swap') {
    const other = pick % chunks.length;
    [chunks[index], chunks[other]] = [chunks[other], chunks[index]];
  } else if (typeof chunk === 'object' && chunk !== null) {
    const keys = Object.keys(chunk);
    const key = keys[pick % keys.length]!;
    if (kind === 'unset') delete (chunk as Record<string, unknown>)[key];
    else (chunk as Record<string, unknown>)[key] = value;
  }
}
