import { canonical, check } from '@intertie/conformance';
import type { AgentEvent, AgentSource, CanonicalMessage, RunInput } from '@intertie/core';
import { createResumePoint } from '@intertie/core/internal';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readAll } from '../../../core/test/read-all.ts';
import { runControl } from '../../../core/test/run-control.ts';
import { runInput } from '../../../core/test/run-input.ts';
import { openaiSource } from './openai-source.ts';

const empty: CanonicalMessage = {
  id: 'message',
  threadId: 'thread',
  role: 'assistant',
  type: 'text',
  content: { format: 2, parts: [] },
  createdAt: new Date(0),
};
const prompt: CanonicalMessage = {
  ...empty,
  id: 'u',
  role: 'user',
  content: { format: 2, parts: [{ type: 'text', text: 'Go' }] },
};
const input = runInput({ history: [prompt], tools: [{ name: 'look' }] });

const item = { type: 'message', id: 'msg_1', role: 'assistant' };
const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look' };
const done = { ...call, arguments: '{"at":"sea"}', status: 'completed' };
const second = { ...done, id: 'fc_2', call_id: 'call_2' };
const text = { output_index: 0, item_id: 'msg_1', content_index: 0 };
const answer = [
  { type: 'response.created', response: { id: 'resp_1' } },
  { type: 'response.output_item.added', output_index: 0, item },
  { type: 'response.content_part.added', ...text, part: { type: 'output_text' } },
  { type: 'response.output_text.delta', ...text, delta: 'Let me ' },
  { type: 'response.output_text.delta', ...text, delta: 'look.' },
  { type: 'response.output_text.done', ...text, text: 'Let me look.' },
  { type: 'response.output_item.done', output_index: 0, item },
  { type: 'response.output_item.added', output_index: 1, item: call },
  { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'fc_1', delta: '{"at":' },
  { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'fc_1', delta: '"sea"}' },
  { type: 'response.output_item.done', output_index: 1, item: done },
  { type: 'response.output_item.added', output_index: 2, item: second },
  { type: 'response.output_item.done', output_index: 2, item: second },
  { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [done, second] } },
].map((event, sequence_number) => ({ ...event, sequence_number }));

/** Source of a server that refuses requests for the rest of its response with the given statuses. */
function createSource(refusals: number[] = []): AgentSource {
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const status = init?.method === 'POST' ? undefined : refusals.shift();
    if (status !== undefined) return Response.json({ error: { message: 'Not now' } }, { status });
    const after = Number(new URL(url as string).searchParams.get('starting_after') ?? -1);
    const events = answer.filter(({ sequence_number: sequence }) => sequence > after);
    return new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  };
  return openaiSource({ baseURL: 'http://remote.test/v1', model: 'm', fetch });
}

const resume = (source: AgentSource, run: RunInput, log: AgentEvent[]): Promise<AgentEvent[]> =>
  readAll(source.resume!({ ...run, epoch: 2 }, createResumePoint(empty, log), runControl()));

describe('resume of openaiSource', () => {
  afterEach(() => void vi.useRealTimers());

  it('continues after every event if an earlier turn has used the call ids', async () => {
    const source = createSource();
    const part = { type: 'tool-invocation', toolName: 'look', executor: 'client', state: 'result', args: {} } as const;
    const parts = ['call_1', 'call_2'].map((toolCallId) => ({ ...part, toolCallId, result: 1 }));
    const earlier: CanonicalMessage = { ...empty, id: 'a', content: { format: 2, parts } };
    const run = { ...input, history: [prompt, earlier, { ...prompt, id: 'u2' }] };
    const whole = await readAll(source.run(run, runControl()));
    const { content } = createResumePoint(empty, whole).message;
    expect(content.parts).toHaveLength(3);
    for (let length = whole.findIndex(({ type }) => type === 'checkpoint') + 1; length < whole.length; length += 1) {
      const log = whole.slice(0, length);
      const all = [...log, ...(await resume(source, run, log))];
      expect(check(canonical, all).violations, `after ${length} events`).toEqual([]);
      expect(createResumePoint(empty, all).message.content, `after ${length} events`).toEqual(content);
    }
  });

  it.each([429, 500, 503])('returns to the response if the server refuses it at first with %i', async (status) => {
    vi.useFakeTimers();
    const log = (await readAll(createSource().run(input, runControl()))).slice(0, 5);
    const resumed = resume(createSource([status, status, status]), input, log);
    await vi.advanceTimersByTimeAsync(8_000);
    expect((await resumed).at(-1)).toMatchObject({ outcome: 'paused' });
  });

  it('ends as lost if the server refuses the response for eight seconds', async () => {
    vi.useFakeTimers();
    const refusals = Array.from({ length: 100 }, () => 503);
    const log = (await readAll(createSource().run(input, runControl()))).slice(0, 5);
    const resumed = resume(createSource(refusals), input, log);
    await vi.advanceTimersByTimeAsync(8_000);
    expect((await resumed).at(-1)).toMatchObject({ outcome: 'error', error: { code: 'lost' } });
    expect(refusals).toHaveLength(95);
  });
});
