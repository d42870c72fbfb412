import { transcode, type AgentEvent, type Loss, type MessageContent, type RunInput } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { runInput } from '../../../../core/test/run-input.ts';
import { createUIMessageDecoder, type UIMessageDecoderOptions } from './decode-ui-message-stream.ts';

const run: RunInput = runInput({ runId: 'r', threadId: 't', messageId: 'm' });

function decode(
  chunks: unknown[],
  { message, ...options }: UIMessageDecoderOptions & { message?: MessageContent } = {},
): AgentEvent[] {
  return transcode(createUIMessageDecoder(message ? { ...run, message } : run, options), chunks);
}

const call = { toolCallId: 'c', toolName: 'search' };
const start = { type: 'tool-input-start', ...call };
const available = { type: 'tool-input-available', ...call, input: { q: 1 } };
const toolCall = { type: 'tool-call', ...call, input: { q: 1 } };
const result = { type: 'tool-result', toolCallId: 'c' };

describe('chunk decoding', () => {
  const table: Array<[name: string, chunks: unknown[], events: object[]]> = [
    ['start', [{ type: 'start', messageId: 'm' }], []],
    [
      'metadata of the message',
      [
        { type: 'start', messageMetadata: { a: 1 } },
        { type: 'message-metadata', messageMetadata: { b: 2 } },
        { type: 'finish', messageMetadata: { c: 3 } },
      ],
      [
        { type: 'metadata', metadata: { a: 1 } },
        { type: 'metadata', metadata: { b: 2 } },
        { type: 'metadata', metadata: { c: 3 } },
        { type: 'run-end', outcome: 'complete' },
      ],
    ],
    [
      'text in a step, with new ids',
      [
        { type: 'start-step' },
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'Hi', providerMetadata: { maker: { a: 1 } } },
        {
          type: 'text-end',
          id: '0',
          citations: [{ source: { type: 'source', sourceType: 'url', id: '1', url: 'u' } }],
        },
        { type: 'finish-step' },
      ],
      [
        { type: 'step-start', stepId: 'r:step-0' },
        { type: 'text-start', id: 'r:0', stepId: 'r:step-0' },
        { type: 'text-delta', id: 'r:0', delta: 'Hi', providerMetadata: { maker: { a: 1 } } },
        {
          type: 'text-end',
          id: 'r:0',
          citations: [{ source: { type: 'source', sourceType: 'url', id: '1', url: 'u' } }],
        },
        { type: 'step-end', stepId: 'r:step-0' },
      ],
    ],
    [
      'a step that finishes while its part is open (legal in 7), after the part',
      [
        { type: 'start-step' },
        { type: 'reasoning-start', id: '0' },
        { type: 'finish-step' },
        { type: 'reasoning-end', id: '0' },
      ],
      [
        { type: 'step-start', stepId: 'r:step-0' },
        { type: 'reasoning-start', id: 'r:0', stepId: 'r:step-0' },
        { type: 'reasoning-end', id: 'r:0' },
        { type: 'step-end', stepId: 'r:step-0' },
      ],
    ],
    [
      'a discarded step',
      [{ type: 'start-step' }, { type: 'text-start', id: '0' }, start, { type: 'reset-step' }],
      [
        { type: 'step-start', stepId: 'r:step-0' },
        { type: 'text-start', id: 'r:0', stepId: 'r:step-0' },
        { type: 'tool-input-start', ...call, stepId: 'r:step-0' },
        { type: 'text-end', id: 'r:0' },
        { type: 'tool-input-end', toolCallId: 'c' },
        { type: 'step-end', stepId: 'r:step-0', discarded: true },
        { type: 'step-start', stepId: 'r:step-1' },
      ],
    ],
    [
      'a call with streamed input',
      [
        { ...start, dynamic: true, title: 'Search', inputEncoding: 'json' },
        { type: 'tool-input-delta', toolCallId: 'c', inputTextDelta: '{"q":1}' },
        { ...available, dynamic: true, providerExecuted: true },
        { type: 'tool-output-available', toolCallId: 'c', output: 1, preliminary: true },
        { type: 'tool-output-available', toolCallId: 'c', output: 2 },
      ],
      [
        { type: 'tool-input-start', ...call, dynamic: true, title: 'Search', inputEncoding: 'json' },
        { type: 'tool-input-delta', toolCallId: 'c', delta: '{"q":1}' },
        { type: 'tool-input-end', toolCallId: 'c' },
        { ...toolCall, dynamic: true, title: 'Search', inputEncoding: 'json', executor: 'provider' },
        { ...result, status: 'ok', output: 1, preliminary: true },
        { ...result, status: 'ok', output: 2 },
      ],
    ],
    [
      'an invalid call with one error, which ai sends twice',
      [
        { type: 'tool-input-error', ...call, input: '{', errorText: 'Bad.' },
        { type: 'tool-output-error', toolCallId: 'c', errorText: 'Bad.' },
        { type: 'finish' },
      ],
      [
        { type: 'tool-call', ...call, input: '{', invalid: { message: 'Bad.' } },
        { ...result, status: 'error', error: { message: 'Bad.' } },
        { type: 'run-end', outcome: 'complete' },
      ],
    ],
    [
      'an invalid call without an error chunk',
      [{ type: 'tool-input-error', ...call, input: '{', errorText: 'Bad.' }, { type: 'finish' }],
      [
        { type: 'tool-call', ...call, input: '{', invalid: { message: 'Bad.' } },
        { ...result, status: 'error', error: { message: 'Bad.' } },
        { type: 'run-end', outcome: 'complete' },
      ],
    ],
    [
      'a granted approval',
      [
        available,
        {
          type: 'tool-approval-request',
          approvalId: 'q',
          toolCallId: 'c',
          signature: 's',
          approvalDescriptor: { risk: 1 },
          reason: 'policy',
          isAutomatic: true,
        },
        { type: 'tool-approval-response', approvalId: 'q', approved: true, reason: 'Fine.' },
      ],
      [
        toolCall,
        {
          type: 'question',
          questionId: 'q',
          kind: 'approval',
          toolCallId: 'c',
          reason: 'policy',
          automatic: true,
          providerMetadata: { 'ai-sdk': { signature: 's', approvalDescriptor: { risk: 1 } } },
        },
        { type: 'answer', questionId: 'q', approved: true, reason: 'Fine.' },
      ],
    ],
    [
      'a denied call',
      [available, { type: 'tool-output-denied', toolCallId: 'c' }],
      [toolCall, { ...result, status: 'denied' }],
    ],
    [
      'sources and files',
      [
        { type: 'source-url', sourceId: 's', url: 'https://example.com', title: 'Example' },
        { type: 'source-document', sourceId: 'd', mediaType: 'text/plain', title: 'Notes' },
        { type: 'file', url: 'data:text/plain;base64,aGk=', mediaType: 'text/plain' },
        { type: 'reasoning-file', url: '/files/1', mediaType: 'image/png' },
      ],
      [
        { type: 'source', id: 's', sourceType: 'url', url: 'https://example.com', title: 'Example' },
        { type: 'source', id: 'd', sourceType: 'document', mediaType: 'text/plain', title: 'Notes' },
        { type: 'file', id: 'r:0', mimeType: 'text/plain', data: 'aGk=' },
        { type: 'file', id: 'r:1', mimeType: 'image/png', reasoning: true, url: '/files/1' },
      ],
    ],
    [
      'data that is replaced by id, and custom content',
      [
        { type: 'data-plan', id: '1', data: { done: 0 } },
        { type: 'data-plan', id: '1', data: { done: 1 } },
        { type: 'data-ping', data: null, transient: true },
        { type: 'custom', kind: 'maker.cell', providerMetadata: { maker: { a: 1 } } },
      ],
      [
        { type: 'data', id: '1', name: 'plan', data: { done: 0 } },
        { type: 'data', id: '1', name: 'plan', data: { done: 1 } },
        { type: 'data', id: 'r:0', name: 'ping', data: null, transient: true },
        { type: 'data', id: 'r:1', name: 'provider:maker.cell', data: null, providerMetadata: { maker: { a: 1 } } },
      ],
    ],
    [
      'a steering message',
      [
        {
          type: 'steering-message',
          id: 'i',
          parts: [
            { type: 'text', text: 'Stop.' },
            { type: 'file', mediaType: 'text/plain', url: '', providerReference: { openai: 'file-1' } },
          ],
        },
      ],
      [
        {
          type: 'interjection',
          id: 'i',
          role: 'user',
          parts: [
            { type: 'text', text: 'Stop.' },
            { type: 'file', mimeType: 'text/plain', reference: { provider: 'openai', ref: 'file-1' } },
          ],
        },
      ],
    ],
    ['abort', [{ type: 'abort', reason: 'Stopped.' }], [{ type: 'run-end', outcome: 'aborted', reason: 'Stopped.' }]],
    [
      'an error that ends the stream, with the first one as its cause',
      [
        { type: 'error', errorText: 'No credit.' },
        { type: 'error', errorText: 'Stream closed.' },
      ],
      [
        { type: 'notice', level: 'error', message: 'No credit.', code: 'stream-error' },
        { type: 'notice', level: 'error', message: 'Stream closed.', code: 'stream-error' },
        { type: 'run-end', outcome: 'error', error: { message: 'No credit.' } },
      ],
    ],
    [
      'an error that does not end the stream',
      [
        { type: 'error', errorText: 'A tool was slow.' },
        { type: 'finish', finishReason: 'stop' },
      ],
      [
        { type: 'notice', level: 'error', message: 'A tool was slow.', code: 'stream-error' },
        { type: 'run-end', outcome: 'complete', finishReason: 'stop' },
      ],
    ],
    [
      'a call that waits for the client',
      [available, { type: 'finish', finishReason: 'tool-calls' }],
      [
        toolCall,
        {
          type: 'run-end',
          outcome: 'paused',
          finishReason: 'tool-calls',
          waitingFor: [{ type: 'tool', toolCallId: 'c' }],
        },
      ],
    ],
    [
      'an approval that waits for its answer',
      [available, { type: 'tool-approval-request', approvalId: 'q', toolCallId: 'c' }, { type: 'finish' }],
      [
        toolCall,
        { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'c' },
        { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q' }] },
      ],
    ],
    [
      'a foreign message id, which is recorded in the metadata',
      [{ type: 'start', messageId: 'theirs' }, { type: 'finish' }],
      [{ type: 'run-end', outcome: 'complete', providerMetadata: { 'ai-sdk': { messageId: 'theirs' } } }],
    ],
  ];

  it.each(table)('decodes %s', (_name, chunks, events) => {
    expect(decode(chunks)).toEqual(events);
  });
});

describe('ids', () => {
  it('assigns three ids to "0" of three runs', () => {
    const ids = ['r1', 'r2', 'r3'].map((runId) => {
      const decoder = createUIMessageDecoder({ ...run, runId });
      return transcode(decoder, [{ type: 'text-start', id: '0' }])[0];
    });
    expect(ids).toEqual(['r1', 'r2', 'r3'].map((runId) => ({ type: 'text-start', id: `${runId}:0` })));
  });

  it('assigns a new id to a text that is opened again', () => {
    const twice = [
      { type: 'text-start', id: '0' },
      { type: 'text-end', id: '0' },
    ];
    expect(decode([...twice, ...twice]).flatMap((event) => (event.type === 'text-start' ? event.id : []))).toEqual([
      'r:0',
      'r:1',
    ]);
  });

  it('keeps the call id of the wire, or records it in the metadata if the thread already uses it', () => {
    const message: MessageContent = {
      format: 2,
      parts: [{ type: 'tool-invocation', toolCallId: 'c', toolName: 'search', state: 'result', result: 1 }],
    };
    const chunks = [{ type: 'start-step' }, available, { type: 'tool-output-available', toolCallId: 'c', output: 2 }];
    expect(decode(chunks, { message }).slice(1)).toEqual([
      {
        ...toolCall,
        toolCallId: 'r:0',
        stepId: 'r:step-0',
        providerMetadata: { 'ai-sdk': { toolCallId: 'c' } },
      },
      { type: 'tool-result', toolCallId: 'r:0', status: 'ok', output: 2 },
    ]);
  });

  it('accepts results and answers for calls and questions of the baseline', () => {
    const message: MessageContent = {
      format: 2,
      parts: [
        { type: 'tool-invocation', toolCallId: 'c', toolName: 'search', state: 'call', args: {} },
        { type: 'question', questionId: 'q', kind: 'input' },
      ],
    };
    const chunks = [
      { type: 'tool-output-available', toolCallId: 'c', output: 1 },
      { type: 'tool-output-available', toolCallId: 'intertie:question:q', output: 7 },
    ];
    expect(decode(chunks, { message })).toEqual([
      { ...result, status: 'ok', output: 1 },
      { type: 'answer', questionId: 'q', value: 7 },
    ]);
  });
});

describe('invalid input', () => {
  it('decodes unknown types and non-chunks as raw', () => {
    expect(decode([{ type: 'brand-new', n: 1 }, 5])).toEqual([
      { type: 'raw', dialect: 'ui-message-stream', value: { type: 'brand-new', n: 1 } },
      { type: 'raw', dialect: 'ui-message-stream', value: 5 },
    ]);
  });

  it('decodes malformed chunks and unknown references as raw with a notice', () => {
    const malformed = [
      { type: 'text-delta', id: 'p', delta: 5 },
      { type: 'tool-input-delta', toolCallId: 'x', inputTextDelta: '' },
      { type: 'tool-output-available', toolCallId: 'x', output: 1 },
      { type: 'tool-approval-request', toolCallId: 'x', approvalId: 'q' },
      { type: 'tool-approval-response', approvalId: 'x', approved: true },
    ];
    for (const chunk of malformed) {
      expect(decode([chunk])).toMatchObject([
        { type: 'raw', value: chunk },
        { type: 'notice', level: 'warning', code: 'malformed-chunk' },
      ]);
    }
  });

  it('repairs a delta without a start and a result before the complete input', () => {
    const losses: Loss[] = [];
    const chunks = [
      { type: 'text-delta', id: '0', delta: 'Hi' },
      start,
      { type: 'tool-input-delta', toolCallId: 'c', inputTextDelta: '{"q":1}' },
      { type: 'tool-output-available', toolCallId: 'c', output: 1 },
    ];
    expect(decode(chunks, { onLoss: (loss) => losses.push(loss) })).toEqual([
      { type: 'text-start', id: 'r:0' },
      { type: 'text-delta', id: 'r:0', delta: 'Hi' },
      { type: 'tool-input-start', ...call },
      { type: 'tool-input-delta', toolCallId: 'c', delta: '{"q":1}' },
      { type: 'tool-input-end', toolCallId: 'c' },
      toolCall,
      { ...result, status: 'ok', output: 1 },
    ]);
    expect(losses.map(({ kind }) => kind)).toEqual(['repaired', 'repaired']);
  });

  it('reports chunks after the end as late', () => {
    const losses: Loss[] = [];
    const events = decode([{ type: 'finish' }, { type: 'text-start', id: '0' }], {
      onLoss: (loss) => losses.push(loss),
    });
    expect(events).toHaveLength(1);
    expect(losses).toMatchObject([{ kind: 'late', what: 'text-start' }]);
  });
});

it('starts an agent that was never announced', () => {
  const chunks = [
    { type: 'start-step' },
    { type: 'text-start', id: '0', providerMetadata: { intertie: { agentId: 'ann', to: ['bob'] } } },
  ];
  expect(decode(chunks).slice(1)).toEqual([
    { type: 'agent-start', agentId: 'ann', name: 'ann', kind: 'agent' },
    { type: 'text-start', id: 'r:0', agentId: 'ann', to: ['bob'] },
  ]);
});

it('takes the executor of a call from the tool set', () => {
  const events = decode([available, { type: 'finish', finishReason: 'tool-calls' }], { tools: { search: 'runtime' } });
  expect(events).toEqual([
    { ...toolCall, executor: 'runtime' },
    { type: 'run-end', outcome: 'complete', finishReason: 'tool-calls' },
  ]);
});

it('rejects data events of types that have chunks', () => {
  const data = { type: 'run-start', runId: 'x', threadId: 'x', messageId: 'x' };
  const [event] = decode([{ type: 'data-event', id: 'intertie:event', data, transient: true }]);
  expect(event?.type).toBe('raw');
});
