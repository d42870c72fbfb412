import { arbitraryContinuation, arbitraryRun } from '@intertie/conformance/arbitraries';
import {
  foldEvents,
  seal,
  transcode,
  unfold,
  type CanonicalMessage,
  type Loss,
  type MessagePart,
} from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reduceUIChunks } from '../../test/reduce-ui-chunks.ts';
import { majors } from '../../test/scripted-model.ts';
import { createUIMessageEncoder } from '../ui-message-stream/encode/encode-ui-message-stream.ts';
import { fromUIMessages } from './from-ui-messages.ts';
import { toUIMessages } from './to-ui-messages.ts';
import { toQuestionCallId } from '../ui-message-stream/chunk/ui-question-id.ts';

const message = (parts: MessagePart[], more: Partial<CanonicalMessage> = {}): CanonicalMessage => ({
  id: 'm1',
  threadId: 't',
  role: 'assistant',
  type: 'text',
  content: { format: 2, parts },
  createdAt: new Date(5),
  ...more,
});
const tool = (more: Partial<ToolPart>): ToolPart => ({
  type: 'tool-invocation',
  toolCallId: 'c1',
  toolName: 'weather',
  state: 'call',
  args: { city: 'Paris' },
  ...more,
});
const decode = (messages: UIMessage[]): CanonicalMessage[] => fromUIMessages(messages, { threadId: 't' });
/** Serializes and parses a value like a client does. */
const toWire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Removes the reported losses: fields that UI messages lack, and agents without visible parts. */
function withoutLosses(original: CanonicalMessage): CanonicalMessage {
  const { state: _, sourceState: __, parentId: ___, ...rest } = original;
  const { steps: ____, runs: _____, providerMetadata: ______, ...content } = rest.content;
  const { agents, ...others } = content;
  const visible = findVisibleAgents(original);
  const known = Object.entries(agents ?? {}).filter(([agentId]) => visible.has(agentId));
  return {
    ...rest,
    content: { ...others, ...(known.length > 0 && { agents: Object.fromEntries(known) }) },
  };
}

/** Agents with parts, and their ancestors. */
function findVisibleAgents({ content }: CanonicalMessage): Set<string> {
  const visible = new Set<string>();
  for (const { agentId } of content.parts) {
    for (let id = agentId; id !== undefined && !visible.has(id); id = content.agents?.[id]?.parentAgentId)
      visible.add(id);
  }
  return visible;
}

const folded = fc.oneof(
  arbitraryRun().map(({ run, events, end }) =>
    foldEvents(
      transcode(
        seal(run, () => undefined),
        events,
        end,
      ),
    ),
  ),
  arbitraryContinuation().map(({ continued: { run, events, end } }) =>
    foldEvents(
      transcode(
        seal(run, () => undefined),
        events,
        end,
      ),
    ),
  ),
) as fc.Arbitrary<CanonicalMessage>;

describe.each([6, 7] as const)('canonical → UI → canonical, version %i', (version) => {
  test('preserves everything except the reported losses', () => {
    fc.assert(
      fc.property(folded, (original) => {
        const ui = toWire(toUIMessages([original], { version, includeInternal: true }));
        const [restored] = fromUIMessages(ui, { threadId: original.threadId });
        expect(restored).toEqual(withoutLosses(original));
      }),
      { numRuns: 300 },
    );
  });

  test('reports every loss', () => {
    const losses: Loss[] = [];
    const original = message([{ type: 'text', id: 'x', text: 'psst', internal: true, agentId: 'a' }], {
      state: { n: 1 },
    });
    original.content.agents = { a: { name: 'worker', kind: 'agent' } };
    toUIMessages([original], { version, onLoss: (loss) => losses.push(loss) });
    expect(losses.map(({ kind, what }) => [kind, what])).toEqual([
      ['withheld', 'text'],
      ['unsupported', 'agent'],
      ['unsupported', 'message'],
    ]);
  });
});

describe.each(majors)('$name', ({ ai, major }) => {
  test('accepts the messages in its validator and in convertToModelMessages', async () => {
    await fc.assert(
      fc.asyncProperty(folded, async (original) => {
        const ui = toWire(toUIMessages([original], { version: major, includeInternal: true }));
        const verdict = await ai.safeValidateUIMessages({ messages: ui });
        expect(verdict.success ? undefined : verdict.error).toBeUndefined();
        await ai.convertToModelMessages(ui, { ignoreIncompleteToolCalls: true });
      }),
      { numRuns: 100 },
    );
  });
});

/**
 * Removes fields in which a streamed message may differ from a stored one: our metadata, which is more complete when stored;
 * step marks, which overlapping agents prevent; interrupted inputs; answers, which have no chunk in 6; and approvals that were
 * not granted, which the reducer keeps on parts where the validator rejects them.
 */
function toComparable(shown: { parts: readonly unknown[] } | undefined): unknown[] {
  const withoutSlot = (key: string, value: unknown): unknown => {
    if (!/providerMetadata$|^descriptor$/i.test(key)) return value;
    const { intertie: _, ...rest } = value as { intertie?: unknown };
    return Object.keys(rest).length > 0 ? rest : undefined;
  };
  const parts = JSON.parse(JSON.stringify(shown?.parts ?? [], withoutSlot)) as Array<{
    type: string;
    state?: string;
  }>;
  return parts.flatMap((part) => {
    if (part.type === 'step-start') return [];
    if (part.state === 'input-streaming') return [{ ...part, input: undefined, rawInput: undefined }];
    if (part.state?.startsWith('approval-')) return [{ ...part, state: 'approval', approval: undefined }];
    return part.state?.startsWith('output-') ? [{ ...part, approval: undefined }] : [part];
  });
}

describe.each(majors)('$name, after reading the stream of a message', ({ major }) => {
  test('reads the same message that toUIMessages returns', async () => {
    const isShown = ({ content }: CanonicalMessage): boolean =>
      !content.parts.some((part) => part.type === 'tool-invocation' && part.invalid && part.approval);
    await fc.assert(
      fc.asyncProperty(folded.filter(isShown), async (stored) => {
        const encoder = createUIMessageEncoder<7>({ version: major as 7, includeInternal: true, baseline: 'restate' });
        const { message: live } = await reduceUIChunks(major, transcode(encoder, unfold(stored)));
        const [reloaded] = toUIMessages([stored], { version: major, includeInternal: true });
        expect(toComparable(reloaded)).toEqual(toComparable(live));
      }),
      { numRuns: 150 },
    );
  });
});

describe('toUIMessages', () => {
  test('opens a step at a new step id and at text without one after a call', () => {
    const types = (parts: MessagePart[]): string[] => toUIMessages([message(parts)])[0]!.parts.map(({ type }) => type);
    const done = tool({ state: 'result', result: 1 });
    expect(types([{ type: 'text', text: 'a' }, done, { type: 'text', text: 'b' }])).toEqual([
      'step-start',
      'text',
      'tool-weather',
      'step-start',
      'text',
    ]);
    expect(
      types([
        { ...done, stepId: '1' },
        { type: 'text', text: 'of the same step', stepId: '1' },
      ]),
    ).toEqual(['step-start', 'tool-weather', 'text']);
    expect(
      types([
        { type: 'source', id: 's', sourceType: 'url', url: 'https://example.com', stepId: '1' },
        { type: 'data', id: 'd', name: 'note', data: null, stepId: '1' },
        { type: 'text', text: 'a', stepId: '1' },
      ]),
    ).toEqual(['step-start', 'source-url', 'data-note', 'text']);
    expect(
      types([
        { ...done, executor: 'provider' },
        { type: 'text', text: 'b' },
      ]),
    ).toEqual(['step-start', 'tool-weather', 'text']);
  });

  test.each<[string, Partial<ToolPart>, object]>([
    ['input-streaming', { state: 'partial-call', argsText: '{"ci' }, { rawInput: '{"ci' }],
    ['input-available', {}, { input: { city: 'Paris' } }],
    [
      'approval-requested',
      { approval: { questionId: 'q', kind: 'approval', toolCallId: 'c1' } },
      { approval: { id: 'q' } },
    ],
    [
      'approval-responded',
      {
        approval: {
          questionId: 'q',
          kind: 'approval',
          toolCallId: 'c1',
          answer: { questionId: 'q', approved: false, reason: 'no' },
        },
      },
      { approval: { id: 'q', approved: false, reason: 'no' } },
    ],
    ['output-available', { state: 'result', result: 20 }, { output: 20 }],
    ['output-available', { result: 10, preliminary: true }, { output: 10, preliminary: true }],
    ['output-error', { state: 'error', error: { message: 'broke', code: 'x' } }, { errorText: 'broke' }],
    ['output-error', { state: 'denied' }, { errorText: 'The call was denied.' }],
    ['output-error', { state: 'denied', error: { message: 'no' } }, { errorText: 'no' }],
  ])('encodes a tool part in the state %s', (state, part, expected) => {
    const original = message([tool(part.state === 'partial-call' ? { ...part, args: undefined! } : part)]);
    const [ui] = toUIMessages([original]);
    expect(ui!.parts[1]).toMatchObject({ type: 'tool-weather', toolCallId: 'c1', state, ...expected });
    expect(decode(toWire([ui!]))[0]!.content.parts).toEqual(original.content.parts);
  });

  test('encodes a denial without a request as a generated approval in version 7', () => {
    const original = message([tool({ state: 'denied', error: { message: 'no' } })]);
    const [ui] = toUIMessages([original], { version: 7 });
    const approval = { id: 'intertie:denied:c1', approved: false, reason: 'no' };
    expect(ui!.parts[1]).toMatchObject({ state: 'output-denied', approval });
    expect(decode(toWire([ui!]))[0]!.content.parts).toEqual(original.content.parts);
  });

  test('moves results of imported tool messages to their calls', () => {
    const imported = message([tool({ state: 'result', result: 20 })], { id: 'm2', role: 'tool', type: 'tool' });
    const [ui, ...none] = toUIMessages([message([tool({})]), imported]);
    expect(ui!.parts[1]).toMatchObject({ state: 'output-available', output: 20 });
    expect(none).toEqual([]);
  });

  test('writes each agent once, before its first part, and restores it', () => {
    const original = message([
      { type: 'text', id: '1', text: 'a', agentId: 'x' },
      { type: 'text', id: '2', text: 'b', agentId: 'x' },
    ]);
    original.content.agents = {
      boss: { name: 'boss', kind: 'agent' },
      x: { name: 'worker', kind: 'agent', parentAgentId: 'boss' },
    };
    const ui = toUIMessages([original]);
    expect(ui[0]!.parts.map(({ type }) => type)).toEqual(['data-agent', 'data-agent', 'step-start', 'text', 'text']);
    expect(decode(ui)[0]!.content).toEqual(original.content);
  });
});

describe('fromUIMessages', () => {
  test('decodes steps, tools, files, sources and data of messages without our metadata', () => {
    const ui: UIMessage[] = [
      {
        id: 'u',
        role: 'user',
        parts: [
          { type: 'text', text: 'Look' },
          { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,aGk=', filename: 'a.png' },
          { type: 'file', mediaType: 'image/png', url: 'https://example.com/b.png' },
        ],
      },
      {
        id: 'a',
        role: 'assistant',
        metadata: { tokens: 3 },
        parts: [
          { type: 'step-start' },
          { type: 'reasoning', text: 'hm', providerMetadata: { anthropic: { signature: 's' } } },
          { type: 'tool-weather', toolCallId: 'c', state: 'output-available', input: { a: 1 }, output: 'sun' },
          { type: 'step-start' },
          { type: 'text', text: 'Sunny', state: 'done' },
          { type: 'source-url', sourceId: 's', url: 'https://example.com/' },
          { type: 'data-chart', id: 'd', data: [1] },
        ],
      },
    ];
    const [user, assistant] = fromUIMessages(ui, { threadId: 't', createdAt: new Date(7) });
    expect(user).toEqual({
      id: 'u',
      threadId: 't',
      role: 'user',
      type: 'text',
      createdAt: new Date(7),
      content: {
        format: 2,
        parts: [
          { type: 'text', text: 'Look' },
          { type: 'file', mimeType: 'image/png', filename: 'a.png', data: 'aGk=' },
          { type: 'file', mimeType: 'image/png', url: 'https://example.com/b.png' },
        ],
      },
    });
    expect(assistant).toMatchObject({ parentId: 'u', content: { metadata: { tokens: 3 } } });
    expect(assistant!.content.steps).toEqual({ 'a:step-0': {}, 'a:step-1': {} });
    expect(assistant!.content.parts).toEqual([
      { type: 'reasoning', reasoning: 'hm', providerMetadata: { anthropic: { signature: 's' } }, stepId: 'a:step-0' },
      {
        type: 'tool-invocation',
        toolCallId: 'c',
        toolName: 'weather',
        state: 'result',
        args: { a: 1 },
        result: 'sun',
        stepId: 'a:step-0',
      },
      { type: 'text', text: 'Sunny', stepId: 'a:step-1' },
      { type: 'source', sourceType: 'url', url: 'https://example.com/', id: 's' },
      { type: 'data', id: 'd', name: 'chart', data: [1] },
    ]);
  });

  test('prefers the answer in the part to our metadata', () => {
    const approval = { questionId: 'q', kind: 'approval' as const, toolCallId: 'c1', message: 'Really?' };
    const [ui] = toWire(toUIMessages([message([tool({ approval, executor: 'runtime' })])]));
    Object.assign(ui!.parts[1]!, { state: 'approval-responded' });
    Object.assign((ui!.parts[1] as { approval: object }).approval, { approved: true, reason: 'fine' });
    expect(decode([ui!])[0]!.content.parts).toEqual([
      tool({
        executor: 'runtime',
        approval: { ...approval, answer: { questionId: 'q', approved: true, reason: 'fine' } },
      }),
    ]);
  });

  test('decodes the output that a client added to its call', () => {
    const [ui] = toWire(toUIMessages([message([tool({ executor: 'client', dynamic: true })])]));
    Object.assign(ui!.parts[1]!, { state: 'output-available', output: { ok: true } });
    expect(decode([ui!])[0]!.content.parts).toEqual([
      tool({ executor: 'client', dynamic: true, state: 'result', result: { ok: true } }),
    ]);
  });

  test.each([
    ['input', 7, { value: 7 }],
    ['approval', true, { approved: true }],
    ['approval', { approved: false, reason: 'no' }, { approved: false, reason: 'no' }],
  ] as const)('decodes addToolOutput as the answer to a question (%s: %j)', (kind, output, answer) => {
    const question: MessagePart = { type: 'question', questionId: 'q', kind, message: 'How many?' };
    const [ui] = toWire(toUIMessages([message([question])]));
    expect(ui!.parts).toMatchObject([{ type: 'dynamic-tool', toolCallId: toQuestionCallId('q') }]);
    Object.assign(ui!.parts[0]!, { state: 'output-available', output });
    expect(decode([ui!])[0]!.content.parts).toEqual([{ ...question, answer: { questionId: 'q', ...answer } }]);
  });

  test('uses thread id and index for a message without an id', () => {
    const losses: Loss[] = [];
    const [only] = fromUIMessages([{ id: '', role: 'user', parts: [] }], {
      threadId: 't',
      onLoss: (loss) => losses.push(loss),
    });
    expect(only!.id).toBe('t:0');
    expect(losses).toMatchObject([{ kind: 'repaired', what: 'message' }]);
  });

  test('never throws on arbitrary values', () => {
    const types =
      'text reasoning file source-url data-x data-agent data-interjection data-file custom ' +
      'tool-x dynamic-tool steering-message step-start reasoning-file';
    const type = fc.constantFrom(...types.split(' '));
    const meta = fc.oneof(fc.anything(), fc.record({ intertie: fc.dictionary(fc.string(), fc.anything()) }));
    const part = fc.record({
      type,
      id: fc.oneof(fc.constant('intertie:agent:a'), fc.constant('intertie:interjection:'), fc.anything()),
      toolCallId: fc.oneof(fc.constant('c'), fc.anything()),
      data: fc.anything(),
      url: fc.anything(),
      parts: fc.anything(),
      state: fc.anything(),
      approval: fc.oneof(fc.record({ id: fc.constant('q'), descriptor: fc.anything() }), fc.anything()),
      providerMetadata: meta,
      callProviderMetadata: meta,
      resultProviderMetadata: meta,
    });
    const anyMessage = fc.record({
      id: fc.anything(),
      role: fc.anything(),
      parts: fc.array(part),
      metadata: fc.anything(),
    });
    fc.assert(
      fc.property(fc.array(fc.oneof(anyMessage, fc.anything())), (messages) => {
        expect(() => JSON.stringify(fromUIMessages(messages, { threadId: 't' }))).not.toThrow();
      }),
    );
  });
});
