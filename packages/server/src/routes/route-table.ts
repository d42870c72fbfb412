import { z } from 'zod';
import { wireBody } from './dev.ts';
import { runBodies } from './runs.ts';
import { threadBody } from './threads.ts';

export type Route = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'HEAD';
  /** With `{name}` for what varies. */
  path: string;
  summary: string;
  tag: 'agents' | 'chat' | 'threads' | 'runs' | 'files' | 'streams' | 'operations';
  /** Names of query parameters, and what they say. */
  query?: { readonly [name: string]: string };
  body?: z.ZodType | 'bytes';
  /** The status of success, and what comes with it. */
  answers: { readonly [status: number]: 'json' | 'sse' | 'text' | 'bytes' | 'ndjson' | 'nothing' };
};

/** What an unmodified client of the AI SDK posts. */
const chatBody = z.looseObject({
  id: z.string().describe('The thread.'),
  messages: z.array(z.looseObject({ id: z.string(), role: z.string(), parts: z.array(z.unknown()) })),
  trigger: z.enum(['submit-message', 'regenerate-message']).optional(),
  messageId: z.string().optional(),
});

/** `RunAgentInput` of AG-UI. */
const agUiBody = z.looseObject({
  threadId: z.string(),
  runId: z.string(),
  messages: z.array(z.looseObject({ id: z.string(), role: z.string() })),
  tools: z.array(z.unknown()),
  context: z.array(z.unknown()),
  state: z.unknown().optional(),
});

const thread = { thread: 'The thread of the run, where several threads use the same id.' };
const cursors = { run: 'The run to go on with.', after: 'The id of the last frame that was read.' };

function doors(base: string, what: string): Route[] {
  return [
    {
      method: 'POST',
      path: base,
      tag: 'chat',
      summary: `Sends a message to ${what} and streams the answer: for useChat.`,
      body: chatBody,
      answers: { 200: 'sse' },
    },
    {
      method: 'GET',
      path: `${base}/{thread}/stream`,
      tag: 'chat',
      summary: 'Goes on reading the answer that is being written; 204 if none is.',
      query: cursors,
      answers: { 200: 'sse', 204: 'nothing' },
    },
    {
      method: 'POST',
      path: `${base}/{thread}/stop`,
      tag: 'chat',
      summary: 'Stops the answer that is being written.',
      query: { run: 'Only this run.' },
      answers: { 200: 'json' },
    },
  ];
}

/** Every route, as data: the OpenAPI document is made of it, and a test calls each. */
export const routeTable: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/agents',
    tag: 'agents',
    summary: 'The agents, the version and the database.',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/agents/{agent}/topology',
    tag: 'agents',
    summary: 'What an agent is made of, and who talks to whom.',
    answers: { 200: 'json' },
  },
  ...doors('/api/agents/{agent}/chat', 'an agent'),
  ...doors('/api/chat', 'the default agent'),
  {
    method: 'POST',
    path: '/api/agents/{agent}/ag-ui',
    tag: 'chat',
    summary: 'Runs the agent and streams AG-UI events: for HttpAgent.',
    body: agUiBody,
    answers: { 200: 'sse' },
  },
  {
    method: 'GET',
    path: '/api/agents/{agent}/ag-ui',
    tag: 'chat',
    summary: 'Joins the run of a thread.',
    query: { threadId: 'The thread.' },
    answers: { 200: 'sse', 204: 'nothing' },
  },
  {
    method: 'DELETE',
    path: '/api/agents/{agent}/ag-ui',
    tag: 'chat',
    summary: 'Stops the run of a thread.',
    query: { threadId: 'The thread.', runId: 'Only this run.' },
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/threads',
    tag: 'threads',
    summary: 'Threads, the newest first.',
    query: {
      search: 'Words of the title.',
      limit: '1 to 200.',
      cursor: 'That of the page before.',
      resourceId: 'Only those of a resource.',
    },
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/threads/{thread}',
    tag: 'threads',
    summary: 'A thread, its live run and what it has used.',
    answers: { 200: 'json' },
  },
  {
    method: 'PATCH',
    path: '/api/threads/{thread}',
    tag: 'threads',
    summary: 'Changes the title, the active branch or the metadata.',
    body: threadBody,
    answers: { 200: 'json' },
  },
  {
    method: 'DELETE',
    path: '/api/threads/{thread}',
    tag: 'threads',
    summary: 'Deletes a thread and all it owns, and stops its run.',
    answers: { 204: 'nothing' },
  },
  {
    method: 'GET',
    path: '/api/threads/{thread}/messages',
    tag: 'threads',
    summary: 'A branch in the shape of a client, and what stands beside its messages.',
    query: {
      format: 'ui, ag-ui or canonical.',
      leaf: 'The last message of the branch.',
      before: 'A message of the branch.',
      after: 'A message of the branch.',
      limit: '1 to 1000.',
    },
    answers: { 200: 'json' },
  },
  {
    method: 'DELETE',
    path: '/api/threads/{thread}/messages/{message}',
    tag: 'threads',
    summary: 'Deletes a message and all that follow it.',
    answers: { 204: 'nothing' },
  },
  {
    method: 'GET',
    path: '/api/threads/{thread}/tree',
    tag: 'threads',
    summary: 'All messages of all branches, without their content.',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/threads/{thread}/runs',
    tag: 'threads',
    summary: 'The runs of a thread, in the order in which they were made.',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/threads/{thread}/events',
    tag: 'threads',
    summary: 'What changes in a thread, as it changes.',
    query: { since: 'The version after which to begin.' },
    answers: { 200: 'sse' },
  },
  {
    method: 'GET',
    path: '/api/threads/{thread}/export',
    tag: 'threads',
    summary: 'The thread as JSON lines.',
    answers: { 200: 'ndjson' },
  },
  {
    method: 'GET',
    path: '/api/runs/{run}',
    tag: 'runs',
    summary: 'How a run stands.',
    query: thread,
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/runs/{run}/events',
    tag: 'runs',
    summary: 'The canonical events of a run, to its end.',
    query: {
      ...thread,
      after: 'epoch.seq: the id of the last event that was read.',
      live: 'false: what is there now, and no more.',
    },
    answers: { 200: 'sse' },
  },
  {
    method: 'GET',
    path: '/api/runs/{run}/frames',
    tag: 'runs',
    summary: 'What the runtime itself said, frame by frame. On loopback only.',
    query: thread,
    answers: { 200: 'sse' },
  },
  {
    method: 'POST',
    path: '/api/runs/{run}/stop',
    tag: 'runs',
    summary: 'Stops a run.',
    query: thread,
    body: runBodies.stop,
    answers: { 200: 'json' },
  },
  {
    method: 'POST',
    path: '/api/runs/{run}/answers',
    tag: 'runs',
    summary: 'Answers what a run waits for; the first answer counts.',
    query: thread,
    body: runBodies.answers,
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/questions',
    tag: 'runs',
    summary: 'What people are asked.',
    query: { state: 'open, answered, cancelled or expired.', thread: 'Only those of a thread.' },
    answers: { 200: 'json' },
  },
  {
    method: 'POST',
    path: '/api/blobs',
    tag: 'files',
    summary: 'Keeps a file.',
    body: 'bytes',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/blobs/{sha256}',
    tag: 'files',
    summary: 'The bytes of a file, or a range of them.',
    answers: { 200: 'bytes', 206: 'bytes', 304: 'nothing' },
  },
  {
    method: 'GET',
    path: '/streams/runs/{run}',
    tag: 'streams',
    summary: 'The log of a run, by the Durable Streams protocol.',
    query: {
      ...thread,
      offset: '-1, now, or an offset that was given.',
      live: 'long-poll or sse.',
      cursor: 'That of the answer before.',
    },
    answers: { 200: 'json', 204: 'nothing', 304: 'nothing' },
  },
  {
    method: 'HEAD',
    path: '/streams/runs/{run}',
    tag: 'streams',
    summary: 'Where the log of a run ends.',
    query: thread,
    answers: { 200: 'nothing' },
  },
  {
    method: 'POST',
    path: '/api/dev/wire',
    tag: 'operations',
    summary: 'Cuts, delays or repeats on the connections of a thread. On loopback only.',
    body: wireBody,
    answers: { 200: 'json' },
  },
  { method: 'GET', path: '/api/errors', tag: 'operations', summary: 'All error codes.', answers: { 200: 'json' } },
  {
    method: 'GET',
    path: '/api/errors/{code}',
    tag: 'operations',
    summary: 'The page about an error code.',
    answers: { 200: 'text' },
  },
  { method: 'GET', path: '/api/openapi.json', tag: 'operations', summary: 'This document.', answers: { 200: 'json' } },
  {
    method: 'GET',
    path: '/health',
    tag: 'operations',
    summary: 'Whether the process lives.',
    answers: { 200: 'json' },
  },
  { method: 'GET', path: '/ready', tag: 'operations', summary: 'Whether it takes work.', answers: { 200: 'json' } },
  {
    method: 'GET',
    path: '/metrics',
    tag: 'operations',
    summary: 'Figures, for Prometheus and its kin.',
    answers: { 200: 'text' },
  },
];
