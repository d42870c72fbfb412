import type { Rule } from '@intertie/core';

/** Ids of the A2A rules. */
export type A2ARule =
  | 'item'
  | 'first'
  | 'message-only'
  | 'ids'
  | 'state'
  | 'timestamp'
  | 'artifact'
  | 'part'
  | 'append'
  | 'last-chunk'
  | 'after-end'
  | 'end';

/** Rules of an A2A 1.0 stream, from section 3.1.2, 4.1, 4.2 and 5.6.1 of the specification. */
export const a2aRules: ReadonlyArray<Rule & { id: A2ARule }> = [
  {
    id: 'item',
    sentence: 'Every item is a StreamResponse: it has one of task, message, statusUpdate and artifactUpdate.',
    fix: 'Send one of the four, alone or as the result of a JSON-RPC response.',
  },
  {
    id: 'first',
    sentence: 'A stream begins with a task or a message.',
    fix: 'Send the task with its current state before the first update.',
  },
  {
    id: 'message-only',
    sentence: 'A stream with a message contains nothing else.',
    fix: 'Send the output as artifacts of a task, or end the stream after the message.',
  },
  {
    id: 'ids',
    sentence: 'Every update has the taskId and the contextId of the task.',
    fix: 'Copy both ids from the task.',
  },
  {
    id: 'state',
    sentence: 'A status has a state of the specification, by its full name.',
    fix: 'Use the name of the enumeration, for example TASK_STATE_WORKING.',
  },
  {
    id: 'timestamp',
    sentence: 'A timestamp is an ISO 8601 text in UTC.',
    fix: 'Write it like 2026-01-31T12:00:00.000Z.',
  },
  {
    id: 'artifact',
    sentence: 'An artifact has an artifactId and at least one part.',
    fix: 'Send the id with every chunk, and at least one part, which may be an empty text.',
  },
  {
    id: 'part',
    sentence: 'A part has exactly one of text, raw, url and data.',
    fix: 'Split the part.',
  },
  {
    id: 'append',
    sentence: 'Only an artifact that was sent before is appended to.',
    fix: 'Send the first chunk without append.',
  },
  {
    id: 'last-chunk',
    sentence: 'Nothing is appended to an artifact after its last chunk.',
    fix: 'Set lastChunk on the last update of the artifact only.',
  },
  {
    id: 'after-end',
    sentence: 'Nothing follows a terminal state.',
    fix: 'Send artifacts before the last status.',
  },
  {
    id: 'end',
    sentence: 'A stream ends in a terminal or interrupted state.',
    fix: 'Send the last status before the stream is closed. If the connection was lost, subscribe again.',
  },
];
