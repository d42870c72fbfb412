import {
  generateId,
  iterate,
  playTape,
  toReadableStream,
  toTransformStream,
  type AgentSource,
  type RunInput,
  type Tape,
} from '@intertie/core';
import type { ReplayTapes } from '@intertie/core/internal';
import { asFields, asNonEmptyText } from '../shared/fields.ts';
import { createMAILEncoder } from './encode-mail.ts';

/** Creates the MAIL items of one reply to a task. */
type MAILReply = (task: string, signal: AbortSignal) => ReadableStream<unknown>;

/** Creates a handler that behaves like a MAIL 1.3 server and answers each message with the next tape. */
export function createMAILReplay({ tapes, speed }: ReplayTapes): (request: Request) => Promise<Response> {
  const replies = tapes.map(({ protocol, tape, source }) =>
    protocol === 'mail' ? recordedReply(tape, speed) : encodedReply(source),
  );
  let next = 0;
  const reply: MAILReply = (task, signal) => replies[next++ % replies.length]!(task, signal);
  return async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method === 'GET') return answerGet(pathname);
    if (!pathname.endsWith('/message')) return Response.json({ detail: 'Not Found' }, { status: 404 });
    const task = asNonEmptyText(asFields(await request.json().catch(() => undefined)).task_id) ?? generateId();
    return new Response(toReadableStream(encodeFrames(reply(task, request.signal))), {
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    });
  };
}

/** Plays a MAIL tape unchanged, except for the task id: clients ignore events of other tasks. */
function recordedReply(tape: Tape<unknown>, speed: number): MAILReply {
  const recorded = findTaskId(tape);
  return (task) =>
    playTape(tape, { speed }).pipeThrough(
      new TransformStream<unknown, unknown>({
        transform: (item, controller) => {
          const data = getData(item);
          const renamed = recorded === undefined ? data : data.replaceAll(`"${recorded}"`, () => JSON.stringify(task));
          controller.enqueue({ event: asFields(item).event, data: renamed });
        },
      }),
    );
}

/** Plays any other source, encoded as MAIL. */
function encodedReply(source: AgentSource): MAILReply {
  return (task, signal) => {
    const run: RunInput = {
      runId: generateId(),
      threadId: task,
      messageId: generateId(),
      startedAt: Date.now(),
      history: [],
      answers: [],
      tools: [],
      context: [],
    };
    const events = source.run(run, { signal, barrier: async () => undefined, liveAnswers: noLiveAnswers() });
    return events.pipeThrough(toTransformStream(createMAILEncoder(run, () => undefined)));
  };
}

async function* noLiveAnswers(): AsyncGenerator<never> {}

async function* encodeFrames(items: ReadableStream<unknown>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  for await (const item of iterate(items)) yield encoder.encode(toFrame(item));
}

function answerGet(path: string): Response {
  switch (path) {
    case '/':
      return Response.json({
        name: 'mail',
        protocol_version: '1.3',
        swarm: {
          name: 'tape',
          version: '1.3.6',
          description: 'A tape, replayed.',
          entrypoint: 'supervisor',
          keywords: [],
        },
        status: 'running',
      });
    case '/health':
      return Response.json({ status: 'healthy', swarm_name: 'tape' });
    case '/ui/agents':
      return Response.json({ agents: [], entrypoint: 'supervisor' });
    default:
      return Response.json({ detail: 'Not Found' }, { status: 404 });
  }
}

function getData(item: unknown): string {
  const { data } = asFields(item);
  return typeof data === 'string' ? data : JSON.stringify(data ?? {});
}

function findTaskId({ items }: Tape<unknown>): string | undefined {
  for (const { item } of items) {
    const task = /"task_id":\s*"((?:[^"\\]|\\.)*)"/.exec(getData(item))?.[1];
    if (task !== undefined) return task;
  }
  return undefined;
}

function toFrame(item: unknown): string {
  return `event: ${String(asFields(item).event)}\r\n${getData(item).replaceAll(/^/gm, 'data: ')}\r\n\r\n`;
}
