import { transcode, type AgentEvent } from '@intertie/core';
import { createResponsesEncoder } from '../src/encode/encode-responses.ts';
import type { ResponseEvent } from '../src/shared/response-event.ts';

const run: AgentEvent[] = [
  { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Hello' },
  { type: 'text-end', id: '1' },
  { type: 'run-end', outcome: 'complete' },
];

/** Valid stream of the Responses API. */
export const validResponse: ResponseEvent[] = transcode(
  createResponsesEncoder({ response: { id: 'resp_1', model: 'a', createdAt: 0 } }),
  run,
);

/** Replaces fields of the event of a type. */
const change = (type: string, fields: object): object[] =>
  validResponse.map((event) => (event.type === type ? { ...event, ...fields } : event));
const without = (removed: string): object[] =>
  validResponse.filter(({ type }) => type !== removed).map((event, index) => ({ ...event, sequence_number: index }));
const last = validResponse.at(-1) as ResponseEvent & { response: object };
const added = 'response.output_item.added';

/** Streams with one defect each, and the rule that it violates. */
export const responseDefects: ReadonlyArray<readonly [rule: string, items: readonly unknown[]]> = [
  ['shape', [...validResponse.slice(0, 2), { type: 'text-delta' }, ...validResponse.slice(2)]],
  ['created-first', without('response.created')],
  ['sequence', change(added, { sequence_number: 9 })],
  ['item-index', change(added, { output_index: 3 })],
  ['item-id', change(added, { item: { type: 'message' } })],
  ['item-known', change('response.output_text.delta', { item_id: 'other' })],
  ['part-known', without('response.content_part.added')],
  ['text-done', change('response.output_text.done', { text: 'Bye' })],
  ['item-done', without('response.output_item.done')],
  ['after-end', [...validResponse, last]],
  ['same-response', change('response.in_progress', { response: { id: 'resp_2' } })],
  ['final-output', change('response.completed', { response: { ...last.response, output: [{ id: 'unknown' }] } })],
  ['usage', change('response.completed', { response: { ...last.response, usage: null } })],
  ['end', validResponse.slice(0, -1)],
];
