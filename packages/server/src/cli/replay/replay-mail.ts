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
import { asFields, asNonEmptyText } from '@intertie/core/internal';
import { createMAILEncoder } from '@intertie/mail';

/** The items of a turn, for the task that it is of. */
export type MailTurn = (task: string, signal: AbortSignal) => ReadableStream<unknown>;

/** A MAIL 1.3 server whose every turn is what is given, under the task that it is asked for. */
export function createMailReplay(turn: MailTurn): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method === 'GET') return answerGet(pathname);
    if (!pathname.endsWith('/message')) return Response.json({ detail: 'Not Found' }, { status: 404 });
    const task = asNonEmptyText(asFields(await request.json().catch(() => undefined)).task_id) ?? generateId();
    return new Response(toReadableStream(encodeFrames(turn(task, request.signal))), {
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    });
  };
}

/** A tape of MAIL, word for word. A client reads only what is of its task, so the task is the one that it names. */
export function recordedTurn(tape: Tape<unknown>, speed: number): MailTurn {
  const recorded = taskOf(tape);
  return (task) =>
    playTape(tape, { speed }).pipeThrough(
      new TransformStream<unknown, unknown>({
        transform: (item, controller) => {
          const data = dataOf(item);
          const told = recorded === undefined ? data : data.replaceAll(`"${recorded}"`, () => JSON.stringify(task));
          controller.enqueue({ event: asFields(item).event, data: told });
        },
      }),
    );
}

/** Any other tape, as a MAIL server would tell it. */
export function toldTurn(source: AgentSource): MailTurn {
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
    const events = source.run(run, { signal, barrier: async () => undefined, liveAnswers: nobody() });
    return events.pipeThrough(toTransformStream(createMAILEncoder(run, () => undefined)));
  };
}

async function* nobody(): AsyncGenerator<never> {
  // Nobody answers a tape.
}

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

function dataOf(item: unknown): string {
  const { data } = asFields(item);
  return typeof data === 'string' ? data : JSON.stringify(data ?? {});
}

function taskOf({ items }: Tape<unknown>): string | undefined {
  for (const { item } of items) {
    const task = /"task_id":\s*"((?:[^"\\]|\\.)*)"/.exec(dataOf(item))?.[1];
    if (task !== undefined) return task;
  }
  return undefined;
}

function toFrame(item: unknown): string {
  return `event: ${String(asFields(item).event)}\r\n${dataOf(item).replaceAll(/^/gm, 'data: ')}\r\n\r\n`;
}
