import type { JsonObject, Protocol, ProtocolEndpoints } from '@intertie/core';
import type { z } from 'zod';
import { joinNames } from '../config/join-names.ts';
import { wireBody } from './dev.ts';
import { listMessageFormats } from './list-branch.ts';
import { runBodies } from './runs.ts';
import { threadBody } from './threads.ts';

export type Route = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'HEAD';
  /** Path with `{name}` placeholders. */
  path: string;
  summary: string;
  tag: 'agents' | 'chat' | 'threads' | 'runs' | 'files' | 'streams' | 'operations';
  /** Query parameters with their descriptions. */
  query?: { readonly [name: string]: string };
  /** A schema, or a JSON Schema. */
  body?: z.ZodType | JsonObject | 'bytes';
  /** Success statuses with the kind of body. */
  answers: { readonly [status: number]: 'json' | 'sse' | 'text' | 'bytes' | 'ndjson' | 'nothing' };
  isPublic?: true;
  createErrorBody?: ProtocolEndpoints['createErrorBody'];
};

const thread = { thread: 'Thread of the run, if several threads use the same run id.' };

/** Routes that do not belong to a protocol. */
const createServerRoutes = (protocols: readonly Protocol[]): readonly Route[] => [
  {
    method: 'GET',
    path: '/api/agents',
    tag: 'agents',
    summary: 'Lists the agents, with the version and the kind of database.',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/agents/{agent}/topology',
    tag: 'agents',
    summary: 'Describes the agents behind an agent and their connections.',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/protocols',
    tag: 'agents',
    summary: 'Lists the protocols and the kinds of agents that the server knows.',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/threads',
    tag: 'threads',
    summary: 'Lists threads, newest first.',
    query: {
      search: 'Words of the title.',
      limit: '1 to 200.',
      cursor: 'Cursor of the previous page.',
      resourceId: 'Only threads of a resource.',
      paused: '`true`: only threads whose last message is paused, which the response marks with `paused`.',
    },
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/search',
    tag: 'threads',
    summary: 'Finds messages by the words of their text, newest first.',
    query: { q: 'Beginnings of words, all of which the message contains.', limit: '1 to 100. Default: 20.' },
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/threads/{thread}',
    tag: 'threads',
    summary: 'Returns a thread, its live run and its token usage.',
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
    summary: 'Deletes a thread with all its data, and stops its run.',
    answers: { 204: 'nothing' },
  },
  {
    method: 'GET',
    path: '/api/threads/{thread}/messages',
    tag: 'threads',
    summary: 'Lists the messages of a branch in the format of a client, with their siblings.',
    query: {
      format: `${joinNames(listMessageFormats(protocols))}.`,
      leaf: 'Last message of the branch.',
      before: 'Only messages before this one.',
      after: 'Only messages after this one.',
      limit: '1 to 1000.',
    },
    answers: { 200: 'json' },
  },
  {
    method: 'DELETE',
    path: '/api/threads/{thread}/messages/{message}',
    tag: 'threads',
    summary: 'Deletes a message and all messages after it.',
    answers: { 204: 'nothing' },
  },
  {
    method: 'GET',
    path: '/api/threads/{thread}/tree',
    tag: 'threads',
    summary: 'Lists the messages of all branches, without their content.',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/threads/{thread}/runs',
    tag: 'threads',
    summary: 'Lists the runs of a thread in the order of creation.',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/threads/{thread}/events',
    tag: 'threads',
    summary: 'Streams the changes of a thread.',
    query: { since: 'Version after which to start.' },
    answers: { 200: 'sse' },
  },
  {
    method: 'GET',
    path: '/api/threads/{thread}/export',
    tag: 'threads',
    summary: 'Exports the thread as JSON lines.',
    answers: { 200: 'ndjson' },
  },
  {
    method: 'GET',
    path: '/api/runs/{run}',
    tag: 'runs',
    summary: 'Returns the state of a run.',
    query: thread,
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/runs/{run}/events',
    tag: 'runs',
    summary: 'Streams the canonical events of a run to its end.',
    query: {
      ...thread,
      after: 'epoch.seq: id of the last event that was read.',
      live: 'false: only the events that exist now.',
    },
    answers: { 200: 'sse' },
  },
  {
    method: 'GET',
    path: '/api/runs/{run}/frames',
    tag: 'runs',
    summary: 'Streams the frames of the runtime. On loopback only.',
    query: thread,
    answers: { 200: 'sse' },
  },
  {
    method: 'GET',
    path: '/api/runs/{run}/model-calls',
    tag: 'runs',
    summary: 'Lists what each step of the run sent to the model. For operators.',
    query: thread,
    answers: { 200: 'json' },
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
    summary: 'Answers the questions of a run; the first answer counts.',
    query: thread,
    body: runBodies.answers,
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/questions',
    tag: 'runs',
    summary: 'Lists questions.',
    query: { state: 'open, answered, cancelled or expired.', thread: 'Only questions of a thread.' },
    answers: { 200: 'json' },
  },
  {
    method: 'POST',
    path: '/api/blobs',
    tag: 'files',
    summary: 'Uploads a file.',
    body: 'bytes',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/blobs/{sha256}',
    tag: 'files',
    summary: 'Returns a file, or a range of its bytes.',
    answers: { 200: 'bytes', 206: 'bytes', 304: 'nothing' },
  },
  {
    method: 'GET',
    path: '/streams/runs/{run}',
    tag: 'streams',
    summary: 'Reads the log of a run with the Durable Streams protocol.',
    query: {
      ...thread,
      offset: '-1, now, or an offset of an earlier response.',
      live: 'long-poll or sse.',
      cursor: 'Cursor of the previous response.',
    },
    answers: { 200: 'json', 204: 'nothing', 304: 'nothing' },
  },
  {
    method: 'HEAD',
    path: '/streams/runs/{run}',
    tag: 'streams',
    summary: 'Returns the current end of the log of a run.',
    query: thread,
    answers: { 200: 'nothing' },
  },
  {
    method: 'POST',
    path: '/api/dev/wire',
    tag: 'operations',
    summary: 'Cuts or delays the connections of a thread, or repeats data on them. On loopback only.',
    body: wireBody,
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/errors',
    tag: 'operations',
    isPublic: true,
    summary: 'All error codes.',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/api/errors/{code}',
    tag: 'operations',
    isPublic: true,
    summary: 'Returns the page of an error code.',
    answers: { 200: 'text' },
  },
  { method: 'GET', path: '/api/openapi.json', tag: 'operations', summary: 'This document.', answers: { 200: 'json' } },
  {
    method: 'GET',
    path: '/health',
    tag: 'operations',
    isPublic: true,
    summary: 'Liveness of the process.',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/ready',
    tag: 'operations',
    isPublic: true,
    summary: 'Readiness for requests.',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: '/metrics',
    tag: 'operations',
    summary: 'Metrics in the text format of Prometheus.',
    answers: { 200: 'text' },
  },
];

/** Returns every route as data. The OpenAPI document is generated from it, and a test calls each route. */
export function listRoutes(protocols: readonly Protocol[]): readonly Route[] {
  const endpoints = protocols.flatMap(({ endpoints: { routes = [], createErrorBody } = { routes: [] } }) =>
    routes.map((route): Route => ({ tag: 'chat', ...route, ...(createErrorBody && { createErrorBody }) })),
  );
  return [...endpoints, ...createServerRoutes(protocols)];
}

/** Finds the routes of a path, one per method. */
export function createRouteFinder(routes: readonly Route[]): (path: string) => Route[] {
  const patterns = routes.map((route) => ({ route, pattern: toPattern(route) }));
  return (path) => patterns.filter(({ pattern }) => pattern.test(path)).map(({ route }) => route);
}

function toPattern({ path }: Route): RegExp {
  return new RegExp(`^${path.replaceAll('.', String.raw`\.`).replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** Whether responses of the route are streams, which count against the limit of open streams. */
export function isStreaming({ answers, tag }: Route): boolean {
  return tag === 'streams' || Object.values(answers).some((kind) => kind === 'sse' || kind === 'ndjson');
}
