import { canonical, check } from '@intertie/conformance';
import { arbitraryRun } from '@intertie/conformance/arbitraries';
import { compose, seal, transcode, type AgentEvent, type RunInput } from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createResponsesEncoder } from '../encode/encode-responses.ts';
import type { Flavour } from '../shared/response-event.ts';
import { createResponsesDecoder } from './decode-responses.ts';

const ignore = (): void => undefined;
const target: RunInput = {
  runId: 'decoded',
  threadId: 'thread-1',
  messageId: 'message-2',
  startedAt: 0,
  history: [],
  answers: [],
  tools: [],
  context: [],
};
const decode = (items: readonly unknown[]): AgentEvent[] =>
  transcode(compose(createResponsesDecoder(target), seal(target, ignore)), items);
/** Text of the parts that a client sees. Discarded steps are not part of it. */
const getText = (events: readonly AgentEvent[]): string =>
  events.flatMap((event) => (event.type === 'text-delta' ? [event.delta] : [])).join('');

describe('decode responses', () => {
  it.each<Flavour>(['openai', 'open-responses'])('decodes any encoded run of %s to a valid run', (flavour) => {
    fc.assert(
      fc.property(arbitraryRun(), ({ run, events, end }) => {
        const response = { id: 'resp_1', model: 'agent', createdAt: 0 };
        const sealed = transcode(seal(run, ignore), events, end);
        const items = transcode(createResponsesEncoder({ response, flavour }), sealed);
        const decoded = decode(items);
        expect(check(canonical, decoded).violations).toEqual([]);
        const internal = new Set(
          sealed.flatMap((event) => (event.type === 'text-start' && event.internal ? [event.id] : [])),
        );
        const visible = sealed.filter((event) => event.type !== 'text-delta' || !internal.has(event.id));
        expect(getText(decoded)).toBe(getText(visible));
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    [{ status: 'failed', error: { code: 'server_error', message: 'Broken' } }, { outcome: 'error' }],
    [{ status: 'cancelled' }, { outcome: 'aborted' }],
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, { finishReason: 'length' }],
    [{ status: 'completed', usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } }, { outcome: 'complete' }],
  ])('decodes the end of a response %j', (response, expected) => {
    const items = [{ type: 'response.completed', response: { id: 'resp_1', ...response } }];
    expect(decode(items).at(-1)).toMatchObject({ type: 'run-end', ...expected });
  });

  it('keeps unknown events as raw ones', () => {
    expect(decode([{ type: 'surprise' }])).toContainEqual(expect.objectContaining({ type: 'raw' }));
  });

  it('does not take a cut stream for a complete run', () => {
    const items = [{ type: 'response.created', response: { id: 'resp_1' } }];
    expect(decode(items).at(-1)).toMatchObject({ outcome: 'error', error: { code: 'truncated' } });
  });
});
