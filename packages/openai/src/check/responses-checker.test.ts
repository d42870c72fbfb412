import { check } from '@intertie/conformance';
import { transcode, type AgentEvent } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { createResponsesEncoder } from '../encode/encode-responses.ts';
import { openai } from '../openai-protocol.ts';
import type { ResponseEvent } from '../shared/response-event.ts';

const run: AgentEvent[] = [
  { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Hello' },
  { type: 'text-end', id: '1' },
  { type: 'run-end', outcome: 'complete' },
];
const valid = transcode(createResponsesEncoder({ response: { id: 'resp_1', model: 'a', createdAt: 0 } }), run);
const isType = (type: string) => (event: ResponseEvent) => event.type === type;
/** Replaces the event of a type. */
const change = (type: string, fields: object): object[] =>
  valid.map((event) => (isType(type)(event) ? { ...event, ...fields } : event));
const without = (...types: string[]): object[] =>
  valid.filter(({ type }) => !types.includes(type)).map((event, index) => ({ ...event, sequence_number: index }));
const last = valid.at(-1) as ResponseEvent & { response: object };
const added = 'response.output_item.added';

describe('the rules of Responses streams', () => {
  it('accept a stream of the encoder', () => {
    expect(check(openai, valid).violations).toEqual([]);
  });

  it.each<[rule: string, items: unknown[]]>([
    ['shape', [...valid.slice(0, 2), { type: 'text-delta' }, ...valid.slice(2)]],
    ['created-first', without('response.created')],
    ['sequence', change(added, { sequence_number: 9 })],
    ['item-index', change(added, { output_index: 3 })],
    ['item-id', change(added, { item: { type: 'message' } })],
    ['item-known', change('response.output_text.delta', { item_id: 'other' })],
    ['part-known', without('response.content_part.added')],
    ['text-done', change('response.output_text.done', { text: 'Bye' })],
    ['item-done', without('response.output_item.done')],
    ['after-end', [...valid, last]],
    ['same-response', change('response.in_progress', { response: { id: 'resp_2' } })],
    ['final-output', change('response.completed', { response: { ...last.response, output: [{ id: 'unknown' }] } })],
    ['usage', change('response.completed', { response: { ...last.response, usage: null } })],
    ['end', valid.slice(0, -1)],
  ])('report a broken rule: %s', (rule, items) => {
    expect(check(openai, items).violations.map((violation) => violation.rule)).toContain(rule);
  });

  it('have a case for every rule', () => {
    expect(openai.rules).toHaveLength(14);
  });
});
