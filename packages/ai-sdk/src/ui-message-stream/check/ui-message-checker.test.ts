import { check } from '@intertie/conformance';
import { describe, expect, it } from 'vitest';
import { reduceUIChunks } from '../../../test/reduce-ui-chunks.ts';
import type { UIMessageCheckerOptions } from './ui-message-checker.ts';
import { uiMessageRules, type UIMessageRule } from './ui-message-rules.ts';
import { createUIMessageStreamProtocol, uiMessageStream } from '../../ui-message-stream-protocol.ts';

const start = { type: 'start', messageId: 'm' };
const finish = { type: 'finish' };
const stepStart = { type: 'start-step' };
const stepEnd = { type: 'finish-step' };
const call = { toolCallId: 'c', toolName: 'search' };
const inputStart = { type: 'tool-input-start', ...call };
const available = { type: 'tool-input-available', ...call, input: {} };
const output = { type: 'tool-output-available', toolCallId: 'c', output: 1 };
const text = (id: string): object[] => [
  { type: 'text-start', id },
  { type: 'text-delta', id, delta: 'Hi' },
  { type: 'text-end', id },
];

function listViolations(chunks: unknown[], options?: UIMessageCheckerOptions): string[] {
  return check(createUIMessageStreamProtocol(options), chunks).violations.map(({ index, rule }) => `${index} ${rule}`);
}

it('accepts a valid stream', () => {
  const chunks = [
    start,
    stepStart,
    ...text('a'),
    inputStart,
    { type: 'tool-input-delta', toolCallId: 'c', inputTextDelta: '{}' },
    available,
    { type: 'tool-approval-request', approvalId: 'q', toolCallId: 'c' },
    { ...output, preliminary: true },
    output,
    stepEnd,
    stepStart,
    ...text('b'),
    { type: 'data-plan', id: 'd', data: 1 },
    { type: 'data-plan', id: 'd', data: 2 },
    stepEnd,
    finish,
  ];
  expect(listViolations(chunks)).toEqual([]);
  expect(listViolations(chunks, { version: 7 })).toEqual([]);
});

describe('violations', () => {
  const table: Array<[rule: UIMessageRule, chunks: unknown[], index: number, options?: UIMessageCheckerOptions]> = [
    ['T0-shape', [start, { type: 'data-x' }, finish], 1],
    ['T0-shape', [start, { type: 'reset-step' }, finish], 1],
    ['T1-text', [start, { type: 'text-delta', id: 'a', delta: '' }, finish], 1],
    ['T1-text', [start, { type: 'text-end', id: 'a' }, finish], 1],
    ['T2-reasoning', [start, { type: 'reasoning-delta', id: 'a', delta: '' }, finish], 1],
    ['T3-input', [start, { type: 'tool-input-delta', toolCallId: 'c', inputTextDelta: '' }, finish], 1],
    ['T4-call', [start, output, finish], 1],
    ['T4-call', [start, { type: 'tool-output-denied', toolCallId: 'c' }, finish], 1],
    ['T4-call', [start, { type: 'tool-approval-request', toolCallId: 'c', approvalId: 'q' }, finish], 1],
    [
      'T5-approval',
      [start, { type: 'tool-approval-response', approvalId: 'q', approved: true }, finish],
      1,
      { version: 7 },
    ],
    ['T7-metadata', [{ ...start, messageMetadata: 'text' }, finish], 0],
    [
      'T7-metadata',
      [start, { type: 'message-metadata', messageMetadata: { n: 'x' } }, finish],
      1,
      {
        metadataProblem: (metadata) =>
          typeof (metadata as { n: unknown }).n === 'number' ? undefined : 'n is a number',
      },
    ],
    [
      'T7-metadata',
      [start, { type: 'data-plan', data: 1 }, finish],
      1,
      { dataProblem: (name) => (name === 'plan' ? 'it is an object' : undefined) },
    ],
    [
      'T8-error',
      [start, { type: 'error', errorText: 'No.' }, { type: 'text-start', id: 'a' }, { type: 'text-end', id: 'a' }],
      2,
    ],
    ['S1-end', [start, { type: 'text-start', id: 'a' }, finish], 3],
    ['S2-open', [start, { type: 'text-start', id: 'a' }, ...text('a'), finish], 2],
    ['S3-finish', [start, ...text('a')], 4],
    ['S3-finish', [], 0],
    ['S4-order', [start, stepEnd, finish], 1],
    ['S4-order', [start, finish, { type: 'data-x', data: 1 }], 2],
    ['S5-dynamic', [start, inputStart, { ...available, dynamic: true }, finish], 2],
    ['S6-once', [start, available, available, finish], 2],
    ['S6-once', [start, inputStart, stepStart, available, stepEnd, finish], 3],
    ['S7-output', [start, available, output, output, finish], 3],
    ['S8-data', [start, { type: 'data-x', id: '1', data: 1 }, { type: 'data-y', id: '1', data: 2 }, finish], 2],
    [
      'S8-data',
      [start, { type: 'data-x', id: '1', data: 1 }, { type: 'data-x', id: '1', data: 2, transient: true }, finish],
      2,
    ],
    ['S9-start', [start, ...text('a'), { type: 'start', messageId: 'other' }, finish], 4],
    [
      'S10-replace',
      [
        start,
        { type: 'text-start', id: 'a', providerMetadata: { intertie: { agentId: 'ann' } } },
        { type: 'text-end', id: 'a', providerMetadata: { openai: { itemId: 'i' } } },
        finish,
      ],
      2,
    ],
    ['S11-abort', [start, { type: 'abort' }, finish], 2],
    ['S12-empty', [start, stepStart, stepEnd, finish], 2],
    ['S13-result', [start, stepStart, available, output, ...text('a'), stepEnd, finish], 4],
    ['S14-frame', [start, { type: 'data-x', data: JSON.parse('{"__proto__":1}') as unknown }, finish], 1],
  ];

  it.each(table)('reports %s (case %#)', (rule, chunks, index, options) => {
    expect(listViolations(chunks, options)).toContain(`${index} ${rule}`);
    expect(new Set(listViolations(chunks, options).map((found) => found.split(' ')[1]))).toContain(rule);
  });

  it('reports T6-step only for ai 6, which forgets open parts at finish-step', async () => {
    const chunks = [start, stepStart, { type: 'text-start', id: 'a' }, stepEnd, { type: 'text-end', id: 'a' }, finish];
    expect(listViolations(chunks)).toContain('4 T6-step');
    expect(listViolations(chunks, { version: 7 })).toEqual([]);
    expect((await reduceUIChunks(6, chunks)).thrownAt).toBe(4);
    expect((await reduceUIChunks(7, chunks)).thrownAt).toBeUndefined();
  });

  it('covers every rule, each with a fix', () => {
    const covered = new Set([...table.map(([rule]) => rule), 'T6-step']);
    expect(uiMessageRules.map(({ id }) => id).filter((id) => !covered.has(id))).toEqual([]);
    for (const { sentence, fix } of uiMessageRules)
      expect([sentence, fix].every((line) => line.endsWith('.'))).toBe(true);
  });
});

describe('valid streams', () => {
  it("accepts text after a provider's result, or while another text is open", () => {
    const provider = { ...available, providerExecuted: true };
    expect(listViolations([start, stepStart, provider, output, ...text('a'), stepEnd, finish])).toEqual([]);
    const open = { type: 'text-start', id: 'b' };
    const close = { type: 'text-end', id: 'b' };
    expect(listViolations([start, stepStart, available, open, output, ...text('a'), close, stepEnd, finish])).toEqual(
      [],
    );
  });

  it('accepts an error at the end, with the chunks that ai writes after it', () => {
    expect(
      listViolations([start, stepStart, ...text('a'), { type: 'error', errorText: 'No.' }, stepEnd, finish]),
    ).toEqual([]);
  });

  it("accepts the output of a call in the reader's message", () => {
    const message = {
      id: 'm',
      parts: [
        { type: 'step-start' },
        { type: 'tool-search', toolCallId: 'c', state: 'approval-responded', approval: { id: 'q', approved: true } },
        { type: 'dynamic-tool', toolCallId: 'd', state: 'input-streaming' },
      ],
    };
    const chunks = [start, output, { type: 'tool-input-delta', toolCallId: 'd', inputTextDelta: '' }, finish];
    expect(listViolations(chunks)).toEqual(['1 T4-call', '2 T3-input']);
    expect(listViolations(chunks, { message })).toEqual([]);
  });

  it('reports a preliminary output at the end as a loss, not as a violation', () => {
    const { ok, losses } = check(uiMessageStream, [
      start,
      stepStart,
      available,
      { ...output, preliminary: true },
      stepEnd,
      finish,
    ]);
    expect([ok, losses]).toMatchObject([true, [{ kind: 'unsupported', id: 'c' }]]);
  });
});

it('implements the dialect: detection, kinds, decoder and encoder', () => {
  expect(uiMessageStream.looksLike(start)).toBe(true);
  expect(uiMessageStream.looksLike({ type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' })).toBe(false);
  expect(check(uiMessageStream, [start, ...text('a'), 5]).counts).toEqual({
    start: 1,
    'text-start': 1,
    'text-delta': 1,
    'text-end': 1,
    'not a chunk': 1,
  });
});
