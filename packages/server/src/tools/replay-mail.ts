import { playTape, type Tape } from '@intertie/core';
import { fieldsOf, textOf } from './fields.ts';

/** A MAIL 1.3 server that says what is on the tapes, under the task that it is asked for. */
export function createMailReplay(
  tapes: ReadonlyArray<Tape<unknown>>,
  speed: number,
): (request: Request) => Promise<Response> {
  let turn = 0;
  return async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method === 'GET') return answerGet(pathname);
    if (!pathname.endsWith('/message')) return Response.json({ detail: 'Not Found' }, { status: 404 });
    const asked = textOf(fieldsOf(await request.json().catch(() => undefined)).task_id);
    const tape = tapes[turn++ % tapes.length]!;
    const recorded = taskOf(tape);
    const frames = playTape(tape, { speed }).pipeThrough(
      new TransformStream<unknown, Uint8Array>({
        transform: (item, controller) => controller.enqueue(new TextEncoder().encode(toFrame(item, recorded, asked))),
      }),
    );
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
    return new Response(frames, { headers });
  };
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
  const { data } = fieldsOf(item);
  return typeof data === 'string' ? data : JSON.stringify(data ?? {});
}

function taskOf({ items }: Tape<unknown>): string | undefined {
  for (const { item } of items) {
    const task = /"task_id":\s*"((?:[^"\\]|\\.)*)"/.exec(dataOf(item))?.[1];
    if (task !== undefined) return task;
  }
  return undefined;
}

/** A client reads only what is of its task. */
function toFrame(item: unknown, recorded: string | undefined, asked: string | undefined): string {
  const data = dataOf(item);
  const told =
    recorded === undefined || asked === undefined
      ? data
      : data.replaceAll(`"${recorded}"`, () => JSON.stringify(asked));
  return `event: ${String(fieldsOf(item).event)}\r\n${told.replaceAll(/^/gm, 'data: ')}\r\n\r\n`;
}
