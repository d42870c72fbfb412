import {
  foldEvents,
  seal,
  transcode,
  unfold,
  type AgentEvent,
  type Loss,
  type MessageContent,
  type RunInput,
} from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { runInput } from '../../../../core/test/run-input.ts';
import { reduceUIChunks } from '../../../test/reduce-ui-chunks.ts';
import { createUIMessageEncoder } from './encode-ui-message-stream.ts';
import type { UIMessageEncoderOptions } from './ui-message-encoder-options.ts';
import type { UIMessageChunk } from '../chunk/ui-message-chunk.ts';

const run: RunInput = runInput({ runId: 'r', threadId: 't', messageId: 'm' });
const runStart: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' };
const call = { type: 'tool-call', toolCallId: 'c', toolName: 'search', input: { q: 1 } } as const;
const available = { type: 'tool-input-available', toolCallId: 'c', toolName: 'search', input: { q: 1 } } as const;

function encode(
  events: AgentEvent[],
  options: UIMessageEncoderOptions = {},
): { chunks: UIMessageChunk[]; losses: Loss[] } {
  const losses: Loss[] = [];
  const encoder = createUIMessageEncoder<7>({ ...(options as object), onLoss: (loss) => losses.push(loss) });
  const chunks: UIMessageChunk[] = [];
  for (const event of [runStart, ...events]) encoder.feed(event, (chunk) => chunks.push(chunk));
  // Drops `start`, which every stream has.
  return { chunks: chunks.slice(1), losses };
}
const encoded = (events: AgentEvent[], options?: UIMessageEncoderOptions): UIMessageChunk[] =>
  encode(events, options).chunks;

const step = { type: 'start-step' };
const intertie = (fields: object): object => ({ providerMetadata: { intertie: fields } });
const carried = (data: object): object => ({ type: 'data-event', id: 'intertie:event', data, transient: true });

describe('event encoding', () => {
  const table: Array<[name: string, events: AgentEvent[], chunks: object[], options?: UIMessageEncoderOptions]> = [
    [
      'text',
      [
        { type: 'text-start', id: 'p' },
        { type: 'text-delta', id: 'p', delta: 'Hi' },
        { type: 'text-end', id: 'p' },
      ],
      [
        step,
        { type: 'text-start', id: 'p', ...intertie({ id: 'p' }) },
        { type: 'text-delta', id: 'p', delta: 'Hi' },
        { type: 'text-end', id: 'p' },
      ],
    ],
    [
      'reasoning that the options exclude',
      [
        { type: 'reasoning-start', id: 'p' },
        { type: 'reasoning-delta', id: 'p', delta: 'Hm' },
        { type: 'reasoning-end', id: 'p' },
      ],
      [],
      { sendReasoning: false },
    ],
    [
      'a call with streamed input and its result',
      [
        { type: 'tool-input-start', toolCallId: 'c', toolName: 'search', executor: 'runtime' },
        { type: 'tool-input-delta', toolCallId: 'c', delta: '{"q":1}' },
        { type: 'tool-input-end', toolCallId: 'c' },
        { ...call, executor: 'runtime' },
        { type: 'tool-result', toolCallId: 'c', status: 'ok', output: [1], preliminary: true },
        { type: 'tool-result', toolCallId: 'c', status: 'ok', output: [1, 2], content: true },
      ],
      [
        step,
        { type: 'tool-input-start', toolCallId: 'c', toolName: 'search', ...intertie({ executor: 'runtime' }) },
        { type: 'tool-input-delta', toolCallId: 'c', inputTextDelta: '{"q":1}' },
        { ...available, ...intertie({ executor: 'runtime' }) },
        { type: 'tool-output-available', toolCallId: 'c', output: [1], preliminary: true },
        { type: 'tool-output-available', toolCallId: 'c', output: [1, 2], ...intertie({ content: true }) },
      ],
    ],
    [
      'a dynamic provider-executed call',
      [
        { ...call, executor: 'provider', dynamic: true, title: 'Search', toolMetadata: { icon: 'lens' } },
        { type: 'tool-result', toolCallId: 'c', status: 'error', error: { message: 'No.', code: 'down' } },
      ],
      [
        step,
        { ...available, providerExecuted: true, dynamic: true, title: 'Search', toolMetadata: { icon: 'lens' } },
        {
          type: 'tool-output-error',
          toolCallId: 'c',
          providerExecuted: true,
          dynamic: true,
          errorText: 'No.',
          ...intertie({ error: { code: 'down' } }),
        },
      ],
    ],
    [
      'tools that the page has types for',
      [call, { ...call, toolCallId: 'd', toolName: 'other', dynamic: false }],
      [
        step,
        available,
        { ...available, toolCallId: 'd', toolName: 'other', dynamic: true, ...intertie({ dynamic: false }) },
      ],
      { staticTools: ['search'] },
    ],
    [
      'an invalid call, with its metadata before the error',
      [
        { ...call, invalid: { message: 'Bad.' }, providerMetadata: { maker: { a: 1 } } },
        { type: 'tool-result', toolCallId: 'c', status: 'error', error: { message: 'Bad.' } },
      ],
      [
        step,
        { type: 'tool-input-start', toolCallId: 'c', toolName: 'search', providerMetadata: { maker: { a: 1 } } },
        { type: 'tool-input-error', toolCallId: 'c', toolName: 'search', input: { q: 1 }, errorText: 'Bad.' },
      ],
    ],
    [
      'a denied call without a refusal as an error for 6',
      [call, { type: 'tool-result', toolCallId: 'c', status: 'denied', reason: 'Not now.' }],
      [
        step,
        available,
        {
          type: 'tool-output-error',
          toolCallId: 'c',
          errorText: 'Not now.',
          ...intertie({ denied: { reason: 'Not now.' } }),
        },
      ],
    ],
    [
      'a denied call without a refusal with a synthetic approval for 7',
      [call, { type: 'tool-result', toolCallId: 'c', status: 'denied' }],
      [
        step,
        available,
        { type: 'tool-approval-request', approvalId: 'intertie:denied:c', toolCallId: 'c' },
        { type: 'tool-approval-response', approvalId: 'intertie:denied:c', approved: false },
        { type: 'tool-output-denied', toolCallId: 'c' },
      ],
      { version: 7 },
    ],
    [
      'a denied call with a refusal',
      [
        call,
        { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'c' },
        { type: 'answer', questionId: 'q', approved: false },
        { type: 'tool-result', toolCallId: 'c', status: 'denied', reason: 'Not now.' },
      ],
      [
        step,
        available,
        { type: 'tool-approval-request', approvalId: 'q', toolCallId: 'c' },
        { type: 'tool-approval-response', approvalId: 'q', approved: false },
        carried({ type: 'tool-result', toolCallId: 'c', status: 'denied', reason: 'Not now.' }),
        { type: 'tool-output-denied', toolCallId: 'c' },
      ],
      { version: 7 },
    ],
    [
      'an approval for 6',
      [
        call,
        {
          type: 'question',
          questionId: 'q',
          kind: 'approval',
          toolCallId: 'c',
          reason: 'policy',
          message: 'Sure?',
          providerMetadata: { 'ai-sdk': { signature: 's' } },
        },
        { type: 'answer', questionId: 'q', approved: true },
      ],
      [
        step,
        available,
        {
          type: 'tool-approval-request',
          approvalId: 'q',
          toolCallId: 'c',
          approvalDescriptor: { intertie: { message: 'Sure?', reason: 'policy' } },
          signature: 's',
        },
        carried({ type: 'answer', questionId: 'q', approved: true }),
      ],
    ],
    [
      'an approval for 7',
      [
        call,
        { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'c', reason: 'policy', automatic: true },
        { type: 'answer', questionId: 'q', approved: false, reason: 'No.' },
      ],
      [
        step,
        available,
        { type: 'tool-approval-request', approvalId: 'q', toolCallId: 'c', reason: 'policy', isAutomatic: true },
        { type: 'tool-approval-response', approvalId: 'q', approved: false, reason: 'No.' },
      ],
      { version: 7 },
    ],
    [
      'a question without a call, answered with a number',
      [
        {
          type: 'question',
          questionId: 'q',
          kind: 'input',
          reason: 'age',
          message: 'How old?',
          schema: { type: 'number' },
        },
        { type: 'answer', questionId: 'q', value: 7 },
      ],
      [
        {
          type: 'tool-input-available',
          toolCallId: 'intertie:question:q',
          toolName: 'age',
          input: { kind: 'input', reason: 'age', message: 'How old?', schema: { type: 'number' } },
          dynamic: true,
          ...intertie({ question: true }),
        },
        {
          type: 'tool-output-available',
          toolCallId: 'intertie:question:q',
          output: 7,
          dynamic: true,
          ...intertie({ answer: {} }),
        },
      ],
    ],
    [
      'a cancelled question',
      [
        { type: 'question', questionId: 'q', kind: 'input' },
        { type: 'answer', questionId: 'q', cancelled: true },
      ],
      [
        {
          type: 'tool-input-available',
          toolCallId: 'intertie:question:q',
          toolName: 'question',
          input: { kind: 'input' },
          dynamic: true,
          ...intertie({ question: true }),
        },
        {
          type: 'tool-output-error',
          toolCallId: 'intertie:question:q',
          errorText: 'The question was cancelled.',
          dynamic: true,
          ...intertie({ answer: { cancelled: true } }),
        },
      ],
    ],
    [
      'files with bytes, a URL and a reference',
      [
        { type: 'file', id: 'f', mimeType: 'text/plain', filename: 'a.txt', data: 'aGk=' },
        { type: 'file', id: 'g', url: 'https://example.com/g', reasoning: true },
        { type: 'file', id: 'h', mimeType: 'text/plain', reference: { provider: 'maker', ref: 'file-1' } },
      ],
      [
        step,
        {
          type: 'file',
          url: 'data:text/plain;base64,aGk=',
          mediaType: 'text/plain',
          ...intertie({ id: 'f', filename: 'a.txt' }),
        },
        {
          type: 'file',
          url: 'https://example.com/g',
          mediaType: 'application/octet-stream',
          ...intertie({ id: 'g', untyped: true, reasoning: true }),
        },
        {
          type: 'data-file',
          id: 'intertie:file:h',
          data: { mimeType: 'text/plain', reference: { provider: 'maker', ref: 'file-1' } },
        },
      ],
    ],
    [
      'a reasoning file for 7',
      [{ type: 'file', id: 'g', mimeType: 'image/png', url: 'https://example.com/g', reasoning: true }],
      [
        step,
        { type: 'reasoning-file', url: 'https://example.com/g', mediaType: 'image/png', ...intertie({ id: 'g' }) },
      ],
      { version: 7 },
    ],
    [
      'sources',
      [
        { type: 'source', id: 's', sourceType: 'url', url: 'https://example.com', title: 'Example' },
        { type: 'source', id: 'd', sourceType: 'document', mediaType: 'text/plain', title: 'Notes', filename: 'n.txt' },
      ],
      [
        { type: 'source-url', sourceId: 's', url: 'https://example.com', title: 'Example', ...intertie({ id: 's' }) },
        {
          type: 'source-document',
          sourceId: 'd',
          mediaType: 'text/plain',
          title: 'Notes',
          filename: 'n.txt',
          ...intertie({ id: 'd' }),
        },
      ],
    ],
    [
      'patched data as a complete value',
      [
        { type: 'data', id: 'd', name: 'plan', data: { done: 0 } },
        { type: 'data-delta', id: 'd', patch: [{ op: 'replace', path: '/done', value: 1 }] },
        { type: 'data', id: 'e', name: 'ping', data: null, transient: true },
      ],
      [
        { type: 'data-plan', id: 'd', data: { done: 0 }, ...intertie({ id: 'd' }) },
        { type: 'data-plan', id: 'd', data: { done: 1 }, ...intertie({ id: 'd' }) },
        { type: 'data-ping', id: 'e', data: null, transient: true, ...intertie({ id: 'e' }) },
      ],
    ],
    [
      'provider data for 6',
      [{ type: 'data', id: 'd', name: 'provider:maker.cell', data: null, providerMetadata: { maker: { a: 1 } } }],
      [
        {
          type: 'data-provider:maker.cell',
          id: 'd',
          data: null,
          providerMetadata: { maker: { a: 1 }, intertie: { id: 'd' } },
        },
      ],
    ],
    [
      'provider data for 7',
      [{ type: 'data', id: 'd', name: 'provider:maker.cell', data: null, providerMetadata: { maker: { a: 1 } } }],
      [{ type: 'custom', kind: 'maker.cell', providerMetadata: { maker: { a: 1 }, intertie: { id: 'd' } } }],
      { version: 7 },
    ],
    [
      'an interjection for 6',
      [{ type: 'interjection', id: 'i', role: 'user', parts: [{ type: 'text', text: 'Stop.' }] }],
      [
        {
          type: 'data-interjection',
          id: 'intertie:interjection:i',
          data: { role: 'user', parts: [{ type: 'text', text: 'Stop.' }] },
        },
      ],
    ],
    [
      'an interjection for 7',
      [{ type: 'interjection', id: 'i', role: 'user', parts: [{ type: 'text', text: 'Stop.' }] }],
      [{ type: 'steering-message', id: 'i', parts: [{ type: 'text', text: 'Stop.' }] }],
      { version: 7 },
    ],
    [
      'state and notices as transient data',
      [
        { type: 'state-snapshot', state: { n: 1 } },
        { type: 'state-delta', patch: [{ op: 'replace', path: '/n', value: 2 }] },
        { type: 'notice', level: 'error', message: 'A tool was slow.' },
      ],
      [
        { type: 'data-state', id: 'intertie:state', data: { n: 1 }, transient: true },
        { type: 'data-state', id: 'intertie:state', data: { n: 2 }, transient: true },
        {
          type: 'data-notice',
          id: 'intertie:notice',
          data: { level: 'error', message: 'A tool was slow.' },
          transient: true,
        },
      ],
    ],
    [
      'metadata of the message',
      [{ type: 'metadata', metadata: { a: 1 } }],
      [{ type: 'message-metadata', messageMetadata: { a: 1 } }],
    ],
    [
      'the end of a complete run',
      [{ type: 'run-end', outcome: 'complete', finishReason: 'stop' }],
      [{ type: 'finish', finishReason: 'stop', messageMetadata: { intertie: { status: 'complete' } } }],
    ],
    [
      'the end of a run with a finish reason that 6 does not have',
      [{ type: 'run-end', outcome: 'complete', finishReason: 'interrupted' }],
      [
        carried({ type: 'run-end', outcome: 'complete', finishReason: 'interrupted' }),
        { type: 'finish', finishReason: 'other', messageMetadata: { intertie: { status: 'complete' } } },
      ],
    ],
    [
      'the end of a paused run',
      [call, { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'c' }] }],
      [
        step,
        available,
        { type: 'finish-step' },
        carried({ type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'c' }] }),
        { type: 'finish', finishReason: 'tool-calls', messageMetadata: { intertie: { status: 'paused' } } },
      ],
    ],
    [
      'the end of an aborted run',
      [{ type: 'run-end', outcome: 'aborted', reason: 'Stopped.' }],
      [
        { type: 'message-metadata', messageMetadata: { intertie: { status: 'aborted' } } },
        { type: 'abort', reason: 'Stopped.' },
      ],
    ],
    [
      'the end of a failed run',
      [{ type: 'run-end', outcome: 'error', error: { message: 'No credit.' } }],
      [
        { type: 'message-metadata', messageMetadata: { intertie: { status: 'error' } } },
        { type: 'error', errorText: 'No credit.' },
      ],
    ],
    [
      'no finish if the stream is part of another',
      [{ type: 'run-end', outcome: 'complete' }],
      [],
      { sendFinish: false },
    ],
  ];

  it.each(table)('encodes %s', (_name, events, chunks, options) => {
    expect(encoded(events, options)).toEqual(chunks);
  });
});

it('starts with the message id and the run id in its metadata', () => {
  const chunks = transcode(createUIMessageEncoder(), [runStart]);
  expect(chunks[0]).toEqual({ type: 'start', messageId: 'm', messageMetadata: { intertie: { runId: 'r' } } });
});

describe('metadata', () => {
  it('sends merged metadata, so that the agent is still known after text-end', async () => {
    const events: AgentEvent[] = [
      { type: 'agent-start', agentId: 'a', name: 'Ann', kind: 'agent' },
      { type: 'text-start', id: 'p', agentId: 'a' },
      { type: 'text-delta', id: 'p', delta: 'Hi', providerMetadata: { openai: { itemId: 'i' } } },
      { type: 'text-end', id: 'p', providerMetadata: { openai: { done: true } } },
    ];
    const { message } = await reduceUIChunks(6, encoded(events));
    expect(message?.parts.at(-1)).toMatchObject({
      text: 'Hi',
      providerMetadata: { intertie: { agentId: 'a' }, openai: { itemId: 'i', done: true } },
    });
  });

  it('sends metadata of an open part with an empty delta, and of a closed part as a data event', () => {
    const late: AgentEvent = { type: 'metadata', id: 'p', providerMetadata: { maker: { sig: 'x' } } };
    const { chunks, losses } = encode([
      { type: 'reasoning-start', id: 'p' },
      late,
      { type: 'reasoning-end', id: 'p' },
      late,
    ]);
    expect(chunks.slice(2)).toEqual([
      { type: 'reasoning-delta', id: 'p', delta: '', providerMetadata: { intertie: { id: 'p' }, maker: { sig: 'x' } } },
      { type: 'reasoning-end', id: 'p' },
      carried(late),
    ]);
    expect(losses).toMatchObject([{ kind: 'unsupported', what: 'metadata', id: 'p' }]);
  });
});

describe('agents', () => {
  it('sends agents as transient data, then as parts once they have content, parents first', () => {
    const agent = (agentId: string, more: object = {}): object => ({ agentId, name: agentId, kind: 'agent', ...more });
    const chunks = encoded([
      { type: 'agent-start', agentId: 'a', name: 'a', kind: 'agent' },
      { type: 'agent-start', agentId: 'b', name: 'b', kind: 'agent', parentAgentId: 'a' },
      { type: 'text-start', id: 'p', agentId: 'b' },
      { type: 'text-end', id: 'p' },
      { type: 'agent-end', agentId: 'b', outcome: 'complete', result: 1 },
    ]);
    const b = agent('b', { parentAgentId: 'a' });
    expect(chunks.filter(({ type }) => type === 'data-agent')).toEqual([
      { type: 'data-agent', id: 'intertie:agent:a', data: agent('a'), transient: true },
      { type: 'data-agent', id: 'intertie:agent:b', data: b, transient: true },
      { type: 'data-agent', id: 'intertie:agent:a', data: agent('a') },
      { type: 'data-agent', id: 'intertie:agent:b', data: b },
      { type: 'data-agent', id: 'intertie:agent:b', data: { ...b, outcome: 'complete', result: 1 } },
    ]);
  });

  it('withholds internal content unless the options include it', () => {
    const events: AgentEvent[] = [
      { type: 'text-start', id: 'p', internal: true, to: ['b'] },
      { type: 'text-delta', id: 'p', delta: 'psst' },
      { type: 'text-end', id: 'p' },
      { ...call, internal: true },
      { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 1 },
    ];
    const { chunks, losses } = encode(events);
    expect(chunks).toEqual([]);
    expect(losses.map(({ kind, id }) => [kind, id])).toEqual([
      ['withheld', 'p'],
      ['withheld', 'c'],
    ]);
    expect(encoded(events, { includeInternal: true })).toHaveLength(6);
  });
});

describe('steps', () => {
  const text = (id: string, more: object = {}): AgentEvent[] => [
    { type: 'text-start', id, ...more },
    { type: 'text-end', id },
  ];
  const marks = (events: AgentEvent[]): string[] =>
    encoded(events).flatMap((chunk) =>
      chunk.type.endsWith('step') ? chunk.type : chunk.type === 'text-start' ? chunk.id : [],
    );

  it('starts a UI step with each step of the run', () => {
    const turns: AgentEvent[] = [
      { type: 'step-start', stepId: '1' },
      ...text('a', { stepId: '1' }),
      ...text('b', { stepId: '1' }),
      { type: 'step-end', stepId: '1' },
      { type: 'step-start', stepId: '2' },
      ...text('c', { stepId: '2' }),
    ];
    expect(marks(turns)).toEqual(['start-step', 'a', 'b', 'finish-step', 'start-step', 'c']);
  });

  it('starts a step where text follows a tool result, except provider results', () => {
    const result: AgentEvent = { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 1 };
    expect(marks([call, result, ...text('a')])).toEqual(['start-step', 'finish-step', 'start-step', 'a']);
    expect(marks([{ ...call, executor: 'provider' }, result, ...text('a')])).toEqual(['start-step', 'a']);
  });

  it('delays a step boundary while a text or a tool input is open', () => {
    const open: AgentEvent = { type: 'text-start', id: 'a', stepId: '1' };
    const close: AgentEvent = { type: 'text-end', id: 'a' };
    expect(marks([open, ...text('b', { stepId: '2' }), close, ...text('c', { stepId: '2' })])).toEqual([
      'start-step',
      'a',
      'b',
      'finish-step',
      'start-step',
      'c',
    ]);
    const input: AgentEvent = { type: 'tool-input-start', toolCallId: 'c', toolName: 'search', stepId: '1' };
    const ended: AgentEvent = { type: 'tool-input-end', toolCallId: 'c' };
    expect(marks([input, ...text('b', { stepId: '2' }), ended, { ...call, stepId: '1' }])).toEqual(['start-step', 'b']);
  });

  it('keeps the stream of ai 6 valid for interleaved parallel sub-agents (trace 08)', async () => {
    const of = (agentId: string): { agentId: string; stepId: string } => ({ agentId, stepId: `${agentId}:1` });
    const begin = (agentId: string): AgentEvent[] => [
      { type: 'agent-start', agentId, name: agentId, kind: 'agent', parentAgentId: 'team' },
      { type: 'step-start', ...of(agentId) },
    ];
    const createDelta = (id: string, delta: string): AgentEvent => ({ type: 'text-delta', id, delta });
    const end = (agentId: string): AgentEvent[] => [
      { type: 'text-end', id: `${agentId}-text` },
      { ...call, toolCallId: `${agentId}-call`, ...of(agentId) },
      { type: 'tool-result', toolCallId: `${agentId}-call`, status: 'ok', output: { hits: 1 } },
      { type: 'step-end', stepId: `${agentId}:1` },
      { type: 'agent-end', agentId, outcome: 'complete' },
    ];
    const chunks = encoded([
      { type: 'agent-start', agentId: 'team', name: 'team', kind: 'node' },
      ...begin('left'),
      ...begin('right'),
      { type: 'text-start', id: 'left-text', ...of('left') },
      createDelta('left-text', 'leftx'),
      { type: 'text-start', id: 'right-text', ...of('right') },
      createDelta('right-text', 'rightx'),
      createDelta('left-text', 'lefty'),
      createDelta('right-text', 'righty'),
      ...end('left'),
      createDelta('right-text', 'rightz'),
      ...end('right'),
      { type: 'agent-end', agentId: 'team', outcome: 'complete' },
      { type: 'run-end', outcome: 'complete' },
    ]);
    for (const version of [6, 7] as const) {
      const { message, thrown } = await reduceUIChunks(version, chunks);
      expect(thrown).toBeUndefined();
      const texts = message!.parts.filter(({ type }) => type === 'text');
      expect(texts).toMatchObject([
        { text: 'leftxlefty', state: 'done', providerMetadata: { intertie: { agentId: 'left' } } },
        { text: 'rightxrightyrightz', state: 'done', providerMetadata: { intertie: { agentId: 'right' } } },
      ]);
      expect(message!.parts.filter(({ type }) => type === 'tool-search')).toMatchObject([
        { state: 'output-available' },
        { state: 'output-available' },
      ]);
    }
  });

  it('removes discarded steps in 7, and reports them as lost in 6', async () => {
    const events: AgentEvent[] = [
      { type: 'step-start', stepId: '1' },
      ...text('a', { stepId: '1' }),
      { type: 'step-end', stepId: '1', discarded: true },
      { type: 'step-start', stepId: '2' },
      ...text('b', { stepId: '2' }),
    ];
    const { message } = await reduceUIChunks(7, encoded(events, { version: 7 }));
    expect(message?.parts.filter(({ type }) => type === 'text')).toHaveLength(1);
    expect(encode(events).losses).toMatchObject([{ kind: 'unsupported', what: 'discarded step', id: '1' }]);
  });
});

describe('continuation', () => {
  const content: MessageContent = {
    format: 2,
    parts: [
      { type: 'text', id: 'p', text: 'Let me look.' },
      {
        type: 'tool-invocation',
        toolCallId: 'c',
        toolName: 'search',
        state: 'call',
        args: { q: 1 },
        approval: { questionId: 'q', kind: 'approval', toolCallId: 'c', answer: { questionId: 'q', approved: true } },
      },
    ],
  };
  const events: AgentEvent[] = [
    { type: 'message-snapshot', content },
    { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 1 },
  ];

  it('sends nothing of a message that the client has', () => {
    expect(encoded(events)).toEqual([{ type: 'tool-output-available', toolCallId: 'c', output: 1 }]);
  });

  it('restates the whole message without asking answered questions again', () => {
    const types = encoded(events, { baseline: 'restate' }).map(({ type }) => type);
    expect(types).toEqual([
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'tool-input-available',
      'data-event',
      'data-event',
      'tool-output-available',
    ]);
  });

  it('adds only the new parts of a later snapshot, and reports the loss', () => {
    const corrected: MessageContent = {
      format: 2,
      parts: [
        { type: 'text', id: 'a', text: 'Hello' },
        { type: 'text', id: 'b', text: 'New' },
      ],
    };
    const { chunks, losses } = encode([
      { type: 'text-start', id: 'a' },
      { type: 'text-delta', id: 'a', delta: 'HelHello' },
      { type: 'text-end', id: 'a' },
      { type: 'message-snapshot', content: corrected },
    ]);
    expect(chunks.filter(({ type }) => type === 'text-start')).toMatchObject([{ id: 'a' }, { id: 'b' }]);
    expect(losses).toMatchObject([{ kind: 'unsupported', what: 'message-snapshot' }]);
  });
});

it('encodes parts with provider id "0" of three runs as separate parts', async () => {
  const parts = new Set<string>();
  for (const runId of ['r1', 'r2', 'r3']) {
    // The decoder replaces "0" with an id of this run.
    const events: AgentEvent[] = [
      { type: 'text-start', id: `${runId}:0` },
      { type: 'text-delta', id: `${runId}:0`, delta: runId },
      { type: 'text-end', id: `${runId}:0` },
      { type: 'run-end', outcome: 'complete' },
    ];
    const sealed = transcode(
      seal({ ...run, runId, messageId: runId }, () => undefined),
      events,
    );
    const { message } = await reduceUIChunks(6, transcode(createUIMessageEncoder(), unfold(foldEvents(sealed)!)));
    parts.add(JSON.stringify(message?.parts.at(-1)));
  }
  expect(parts.size).toBe(3);
});

describe('run that is cut off', () => {
  it('ends with an error', () => {
    const events: AgentEvent[] = [runStart, { type: 'text-start', id: 'p' }];
    const last = (end: Parameters<typeof transcode>[2]): unknown =>
      transcode(createUIMessageEncoder(), events, end).at(-1);
    expect(last({ reason: 'eof' })).toEqual({ type: 'error', errorText: 'The stream ended before the run did.' });
    expect(last({ reason: 'aborted', message: 'Bye.' })).toEqual({ type: 'abort', reason: 'Bye.' });
    expect(last({ reason: 'error', error: { message: 'Gone.' } })).toEqual({ type: 'error', errorText: 'Gone.' });
  });

  it('ends once, and reports later events as late', () => {
    const { chunks, losses } = encode([
      { type: 'run-end', outcome: 'complete' },
      { type: 'text-start', id: 'p' },
    ]);
    expect(chunks).toHaveLength(1);
    expect(losses).toMatchObject([{ kind: 'late', what: 'text-start' }]);
  });
});

it('serializes its options to a key for cursors', () => {
  const keys = [
    createUIMessageEncoder(),
    createUIMessageEncoder({ version: 7 }),
    createUIMessageEncoder({ baseline: 'restate' }),
    createUIMessageEncoder({ sendReasoning: false }),
    createUIMessageEncoder({ staticTools: ['b', 'a'] }),
  ].map(({ optionsKey }) => optionsKey);
  expect(new Set(keys).size).toBe(keys.length);
  expect(createUIMessageEncoder({ staticTools: ['a', 'b', 'a'] }).optionsKey).toBe(keys.at(-1));
});
