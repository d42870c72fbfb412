import { check } from '@intertie/conformance';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryChunks, arbitraryEncoded, arbitraryMutated } from '../../../test/arbitrary-ui-chunks.ts';
import { reduceUIChunks, isValidChunk, type AnyUIMessage } from '../../../test/reduce-ui-chunks.ts';
import type { UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import { createUIMessageStreamProtocol } from '../../ui-message-stream-protocol.ts';
import { validateUIMessageChunk } from '../chunk/validate-ui-message-chunk.ts';

/*
 * Compares the checker with the schema and the reducer of both majors. Known differences:
 * - T7: metadata that is not an object is always a violation; the reducer throws only when it merges into it.
 * - T8 and all S rules: the reducer does not throw.
 * - An item that the schema rejects never reaches the reducer over HTTP; in process, the reducer ignores unknown types and
 *   accepts other invalid chunks. The checker reports such an item and skips it, and so do these tests.
 * - Metadata nested deeper than 500 levels is rejected here; the schema overflows the stack somewhat later.
 */
const throwing = new Set(['T1-text', 'T2-reasoning', 'T3-input', 'T4-call', 'T5-approval', 'T6-step']);

function verdict(version: UIMessageVersion, chunks: readonly unknown[]) {
  const { violations } = check(createUIMessageStreamProtocol({ version }), chunks);
  const thrown = violations.find(
    ({ rule, message }) => throwing.has(rule) || (rule === 'T7-metadata' && message.includes('throws')),
  );
  return { violations, thrownAt: thrown?.index, rules: new Set(violations.map(({ rule }) => rule)) };
}

const validOnly = (version: UIMessageVersion, chunks: readonly unknown[]): unknown[] =>
  chunks.filter((chunk) => validateUIMessageChunk(chunk, version) === undefined);

const toolCallIds = ({ parts }: AnyUIMessage): unknown[] => parts.flatMap((part) => part.toolCallId ?? []);

describe.each([6, 7] as const)('ai %i', (version) => {
  const streams = fc.oneof(arbitraryChunks(version), arbitraryMutated(version), arbitraryEncoded(version));

  it('accepts the same chunks as the validator', async () => {
    await fc.assert(
      fc.asyncProperty(streams, async (chunks) => {
        for (const chunk of chunks) {
          const problem = validateUIMessageChunk(chunk, version);
          expect(problem === undefined, `${JSON.stringify(chunk)} ${problem?.message}`).toBe(
            await isValidChunk(version, chunk),
          );
        }
      }),
      { numRuns: 150 },
    );
  });

  it('throws exactly at the chunks that the checker reports', async () => {
    await fc.assert(
      fc.asyncProperty(streams, async (chunks) => {
        const valid = validOnly(version, chunks);
        const { thrownAt } = verdict(version, valid);
        const reduced = await reduceUIChunks(version, valid);
        expect(reduced.thrownAt, String(reduced.thrown)).toBe(thrownAt);
      }),
      { numRuns: 200 },
    );
  });

  it('shows exactly the texts as streaming that the checker reports', async () => {
    await fc.assert(
      fc.asyncProperty(streams, async (chunks) => {
        // A second `start` empties the message, including the reported parts.
        const valid = validOnly(version, chunks).filter((chunk, index) => index === 0 || !isStart(chunk));
        const { thrownAt, rules } = verdict(version, valid);
        // `reset-step` drops open parts, including the reported ones.
        fc.pre(thrownAt === undefined && !valid.some((chunk) => getType(chunk) === 'reset-step'));
        const { message } = await reduceUIChunks(version, [...valid, { type: 'data-last', data: 0 }]);
        const hangs = message!.parts.some(({ state }) => state === 'streaming');
        expect(rules.has('S1-end') || rules.has('S2-open')).toBe(hangs);
      }),
      { numRuns: 150 },
    );
  });

  it('has two parts for exactly the calls that the checker reports', async () => {
    await fc.assert(
      fc.asyncProperty(streams, async (chunks) => {
        const valid = validOnly(version, chunks).filter((chunk, index) => index === 0 || !isStart(chunk));
        const { thrownAt, violations } = verdict(version, valid);
        fc.pre(thrownAt === undefined && !valid.some((chunk) => getType(chunk) === 'reset-step'));
        const { message } = await reduceUIChunks(version, [...valid, { type: 'data-last', data: 0 }]);
        const ids = toolCallIds(message!);
        const expected = violations.some(
          ({ message: text }) => text.includes('now has two parts') && !text.includes('data'),
        );
        expect(expected).toBe(new Set(ids).size < ids.length);
      }),
      { numRuns: 150 },
    );
  });

  it('accepts all chunks of the encoder, without a violation', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEncoded(version), async (chunks) => {
        expect(verdict(version, chunks).violations).toEqual([]);
        // 7 also reads streams for 6.
        for (const reader of version === 6 ? ([6, 7] as const) : ([7] as const)) {
          expect((await reduceUIChunks(reader, chunks)).thrown).toBeUndefined();
        }
      }),
      { numRuns: 150 },
    );
  });
});

const getType = (chunk: unknown): unknown => (chunk as { type?: unknown }).type;
const isStart = (chunk: unknown): boolean => getType(chunk) === 'start';
