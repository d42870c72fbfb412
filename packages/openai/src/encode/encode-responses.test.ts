import { transcode, type AgentEvent, type Loss, type OnLoss } from '@intertie/core';
import { createStreamChecker } from '@intertie/conformance';
import fc from 'fast-check';
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import { describe, expect, it } from 'vitest';
import { arbitraryRun } from '@intertie/conformance/arbitraries';
import { openai } from '../openai-protocol.ts';
import type { Flavour, ResponseEvent } from '../shared/response-event.ts';
import { createResponsesEncoder } from './encode-responses.ts';

const response = { id: 'resp_1', model: 'helper', createdAt: 1000 };
const start: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' };
const complete: AgentEvent = { type: 'run-end', outcome: 'complete', usage: [{ inputTokens: 2, outputTokens: 3 }] };

function encode(events: AgentEvent[], flavour: Flavour = 'openai', onLoss?: OnLoss) {
  return transcode(createResponsesEncoder({ response, flavour, ...(onLoss && { onLoss }) }), [start, ...events]);
}

/** Reads events with the accumulator of the official client. */
async function accumulate(events: readonly ResponseEvent[]) {
  const text = events.map((event) => `${JSON.stringify(event)}\n`).join('');
  return ResponseStream.fromReadableStream(new Response(text).body!).finalResponse();
}

const text = (id: string, delta: string, more: object = {}): AgentEvent[] => [
  { type: 'text-start', id, ...more },
  { type: 'text-delta', id, delta },
  { type: 'text-end', id },
];
const call = (executor: 'client' | 'runtime', more: object = {}): AgentEvent[] => [
  { type: 'tool-input-start', toolCallId: 'c', toolName: 'weather', executor },
  { type: 'tool-input-delta', toolCallId: 'c', delta: '{"city":"Oslo"}' },
  { type: 'tool-input-end', toolCallId: 'c' },
  { type: 'tool-call', toolCallId: 'c', toolName: 'weather', executor, input: { city: 'Oslo' }, ...more },
];

describe('encode responses', () => {
  it('encodes text as the official client reads it', async () => {
    const events = encode([...text('1', 'Hello'), complete]);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const final = await accumulate(events);
    expect(final).toMatchObject({ output_text: 'Hello', status: 'completed', usage: { total_tokens: 5 } });
  });

  it.each([
    ['openai', 'response.reasoning_text.delta'],
    ['open-responses', 'response.reasoning.delta'],
  ] as const)('encodes reasoning for %s', (flavour, type) => {
    const events = encode(
      [
        { type: 'reasoning-start', id: '1' },
        { type: 'reasoning-delta', id: '1', delta: 'Hm' },
        { type: 'reasoning-end', id: '1' },
        complete,
      ],
      flavour,
    );
    expect(events.find((event) => event.type === type)).toMatchObject({ delta: 'Hm', item_id: 'rs_1' });
  });

  it('encodes a client tool as a function call', async () => {
    const waitingFor = [{ type: 'tool' as const, toolCallId: 'c' }];
    const events = encode([...call('client'), { type: 'run-end', outcome: 'paused', waitingFor }]);
    const final = await accumulate(events);
    const item = { type: 'function_call', call_id: 'c', name: 'weather', arguments: '{"city":"Oslo"}' };
    expect(final).toMatchObject({ status: 'completed', output: [{ ...item, status: 'completed' }] });
  });

  it('encodes a tool of the runtime as an MCP call, because clients execute function calls', async () => {
    const result: AgentEvent = { type: 'tool-result', toolCallId: 'c', status: 'ok', output: { celsius: 3 } };
    const final = await accumulate(encode([...call('runtime'), result, complete]));
    expect(final.output).toMatchObject([
      { type: 'mcp_call', server_label: 'helper', status: 'completed', output: '{"celsius":3}', error: null },
    ]);
  });

  it('encodes a failed tool of the runtime with its error', async () => {
    const error = { message: 'No weather' };
    const result: AgentEvent = { type: 'tool-result', toolCallId: 'c', status: 'error', error };
    const final = await accumulate(encode([...call('runtime'), result, complete]));
    expect(final.output).toMatchObject([{ status: 'failed', error: { content: [{ text: 'No weather' }] } }]);
  });

  it('encodes a tool of the runtime with its output for Open Responses', () => {
    const result: AgentEvent = { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 'cold' };
    const events = encode([...call('runtime'), result, complete], 'open-responses');
    expect(events.at(-1)).toMatchObject({
      response: {
        output: [
          { type: 'function_call', call_id: 'c', arguments: '{"city":"Oslo"}' },
          { type: 'function_call_output', call_id: 'c', output: 'cold' },
        ],
      },
    });
  });

  it('replaces a call that needs approval by an approval request', async () => {
    const question: AgentEvent = { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'c' };
    const waitingFor = [{ type: 'question' as const, questionId: 'q' }];
    const events = encode([...call('runtime'), question, { type: 'run-end', outcome: 'paused', waitingFor }]);
    expect((await accumulate(events)).output).toEqual([
      {
        id: 'mcpr_q',
        type: 'mcp_approval_request',
        server_label: 'helper',
        name: 'weather',
        arguments: '{"city":"Oslo"}',
      },
    ]);
  });

  it('encodes the result of an approved call of the previous response', async () => {
    const approval = { questionId: 'q', kind: 'approval' as const };
    const part = { type: 'tool-invocation', toolCallId: 'c', toolName: 'mail', state: 'call', args: { to: 'Ada' } };
    const baseline = { type: 'message-snapshot', content: { format: 2, parts: [{ ...part, approval }] } } as AgentEvent;
    const result: AgentEvent = { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 'sent' };
    const final = await accumulate(encode([baseline, result, ...text('2', 'Done'), complete]));
    expect(final.output).toMatchObject([
      { type: 'mcp_call', name: 'mail', arguments: '{"to":"Ada"}', approval_request_id: 'mcpr_q', output: 'sent' },
      { type: 'message' },
    ]);
  });

  it('asks for input with a call of the client tool ask', async () => {
    const question: AgentEvent = { type: 'question', questionId: 'q', kind: 'input', message: 'Which?', schema: {} };
    const waitingFor = [{ type: 'question' as const, questionId: 'q' }];
    const final = await accumulate(encode([question, { type: 'run-end', outcome: 'paused', waitingFor }]));
    expect(final.output).toMatchObject([{ type: 'function_call', name: 'ask', call_id: 'ask_q' }]);
  });

  it('never shows text between agents', () => {
    const losses: Loss[] = [];
    const events = encode(
      [...text('1', 'secret', { internal: true }), ...text('2', 'answer'), complete],
      'openai',
      (l) => losses.push(l),
    );
    expect(JSON.stringify(events)).not.toContain('secret');
    expect(losses).toMatchObject([{ kind: 'withheld', what: 'internal part' }]);
  });

  it('removes the items of a discarded step from the final response', async () => {
    const step = (stepId: string): AgentEvent => ({ type: 'step-start', stepId });
    const events = encode([
      step('s1'),
      ...text('1', 'wrong', { stepId: 's1' }),
      { type: 'text-start', id: '2', stepId: 's1' },
      { type: 'text-delta', id: '2', delta: 'half' },
      { type: 'text-end', id: '2' },
      { type: 'step-end', stepId: 's1', discarded: true },
      step('s2'),
      ...text('3', 'right', { stepId: 's2' }),
      { type: 'step-end', stepId: 's2' },
      complete,
    ]);
    expect((await accumulate(events)).output_text).toBe('right');
  });

  it('cites sources in the text before, during and after it', async () => {
    const source = (id: string): AgentEvent => ({
      type: 'source',
      id,
      sourceType: 'url',
      url: `https://${id}.example`,
    });
    const [begin, delta, end] = text('1', 'Hello') as [AgentEvent, AgentEvent, AgentEvent];
    const final = await accumulate(encode([source('a'), begin, delta, source('b'), end, source('c'), complete]));
    expect(final.output).toMatchObject([
      { content: [{ annotations: [{ url: 'https://a.example' }, { start_index: 5 }, { url: 'https://c.example' }] }] },
    ]);
  });

  it('encodes an image with its bytes, and reports other files', async () => {
    const losses: Loss[] = [];
    const image: AgentEvent = { type: 'file', id: '1', mimeType: 'image/png', data: 'AAAA' };
    const pdf: AgentEvent = { type: 'file', id: '2', mimeType: 'application/pdf', data: 'AAAA' };
    const final = await accumulate(encode([image, pdf, complete], 'openai', (loss) => losses.push(loss)));
    expect(final.output).toMatchObject([{ type: 'image_generation_call', result: 'AAAA', output_format: 'png' }]);
    expect(losses).toMatchObject([{ what: 'file' }]);
  });

  it.each([
    [{ outcome: 'error', error: { message: 'Broken' } }, 'response.failed', { error: { message: 'Broken' } }],
    [{ outcome: 'aborted' }, 'response.incomplete', { status: 'cancelled' }],
    [{ outcome: 'complete', finishReason: 'length' }, 'response.incomplete', { status: 'incomplete' }],
  ] as const)('ends a run with %j', (outcome, type, fields) => {
    expect(encode([{ type: 'run-end', ...outcome }]).at(-1)).toMatchObject({ type, response: fields });
  });

  it('reports missing usage and sends zeros', () => {
    const losses: Loss[] = [];
    const events = encode([{ type: 'run-end', outcome: 'complete' }], 'openai', (loss) => losses.push(loss));
    expect(events.at(-1)).toMatchObject({ response: { usage: { total_tokens: 0 } } });
    expect(losses).toMatchObject([{ what: 'usage' }]);
  });

  it.each(['openai', 'open-responses'] as const)('writes valid streams of any run for %s', async (flavour) => {
    await fc.assert(
      fc.asyncProperty(arbitraryRun(), async ({ events }) => {
        const encoded = transcode(createResponsesEncoder({ response, flavour }), events);
        const checker = createStreamChecker(openai);
        for (const event of encoded) checker.feed(event);
        expect(checker.end().violations).toEqual([]);
        if (flavour === 'openai') await accumulate(encoded);
      }),
      { numRuns: 150 },
    );
  });

  it('writes a prefix of the stream for a prefix of the run', () => {
    fc.assert(
      fc.property(arbitraryRun(), fc.nat(), ({ events }, cut) => {
        const feed = (some: readonly AgentEvent[]): string[] => {
          const encoder = createResponsesEncoder({ response });
          const out: string[] = [];
          for (const event of some) encoder.feed(event, (written) => out.push(JSON.stringify(written)));
          return out;
        };
        const half = feed(events.slice(0, cut % (events.length + 1)));
        expect(feed(events).slice(0, half.length)).toEqual(half);
      }),
    );
  });
});
