import type { Rule } from '@intertie/core';

/** Ids of the rules for streams of the Responses API. */
export type ResponsesRule =
  | 'shape'
  | 'created-first'
  | 'sequence'
  | 'item-index'
  | 'item-id'
  | 'item-known'
  | 'part-known'
  | 'text-done'
  | 'item-done'
  | 'after-end'
  | 'same-response'
  | 'final-output'
  | 'usage'
  | 'end';

const rules: { readonly [Id in ResponsesRule]: readonly [sentence: string, fix: string] } = {
  shape: [
    'Every event is an object with a type that starts with "response.", or "error" or "keepalive".',
    'Send the `type` of the event in its JSON, and not only as the name of the server-sent event.',
  ],
  'created-first': [
    'The first event is `response.created` with the response object.',
    'Send `response.created` before any other event, unless the client asked for `starting_after`.',
  ],
  sequence: [
    'The sequence numbers increase by one.',
    'Number the events of a response without gaps: clients resume with `starting_after`.',
  ],
  'item-index': [
    'A new output item has the next output index.',
    'Count `output_index` from 0, in the order of `response.output_item.added`.',
  ],
  'item-id': [
    'Every output item has a type and an id that no other item of the response has.',
    'Give the item a new id.',
  ],
  'item-known': [
    'An event of an item follows its `response.output_item.added`, and precedes its `response.output_item.done`.',
    'Use the `item_id` and `output_index` of an open item. Annotations may follow the end of their item.',
  ],
  'part-known': [
    'A text delta follows `response.content_part.added` of its part. The official client throws otherwise.',
    'Send `response.content_part.added` before the first delta, also for reasoning.',
  ],
  'text-done': [
    'The final text of a part equals the sum of its deltas.',
    'Send the complete text in `response.output_text.done`.',
  ],
  'item-done': [
    'Every item is done before the response is completed.',
    'Send `response.output_item.done` for each item.',
  ],
  'after-end': ['No event follows the end of the response.', 'Send nothing after the terminal event.'],
  'same-response': ['All events with a response have the same id.', 'Use one id per stream.'],
  'final-output': [
    'The final output contains only items of the stream.',
    'Send the events of an item before it appears in the final response.',
  ],
  usage: ['The final response has `usage`.', 'Send zeros if the runtime does not count tokens: some clients need it.'],
  end: [
    'The stream ends with `response.completed`, `response.failed` or `response.incomplete`.',
    'Read the stream to its end. If the connection was lost, continue with `starting_after`.',
  ],
};

/** Rules of a stream of Responses events, each with the fix. */
export const responsesRules: readonly Rule[] = Object.entries(rules).map(([id, [sentence, fix]]) => ({
  id,
  sentence,
  fix,
}));
