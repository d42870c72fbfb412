import { generateId } from '@intertie/core';
import { pause, pullStream } from '@intertie/core/internal';
import { demoAgents, playAnswer, playRequest } from './demo-script.ts';
import { DemoTask, demoSwarm } from './demo-task.ts';
import { asFields, asArray, asNonEmptyText, parseJson, asText, type Fields } from '../shared/fields.ts';

export interface MAILDemoOptions {
  /** Duration of one step of an agent in milliseconds. Default: 400. */
  paceMs?: number;
  /** Ping interval, and delay after a breakpoint or failure until the stream ends. Default: 15 s, as in the real server. */
  stallMs?: number;
  /** Enables `/ui/message`, which requires no key. Default: true. */
  debug?: boolean;
  /** The key that `/message` accepts. Default: any. */
  apiKey?: string;
}

/**
 * Creates a MAIL 1.3 server with a scripted swarm, as a fetch handler that needs no key and no model. It reproduces the
 * difficult behaviour of the real server: CRLF line ends, missing ids, delays, and the endless ping.
 */
export function createMAILDemo(options: MAILDemoOptions = {}): { fetch: (request: Request) => Promise<Response> } {
  const demo = new Demo(options);
  return { fetch: (request) => demo.fetch(request) };
}

const defaultStallMs = 15_000;
const debugUser = 'ui-dev-user';

class Demo {
  #options: MAILDemoOptions;
  #tasks = new Map<string, DemoTask>();

  constructor(options: MAILDemoOptions) {
    this.#options = options;
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const { debug = true } = this.#options;
    const owner = pathname.startsWith('/ui/') ? debugUser : this.#authenticate(request);
    switch (`${request.method} ${pathname}`) {
      case 'GET /':
        return json(serverInfo);
      case 'GET /health':
        return json({ status: 'healthy', swarm_name: demoSwarm, timestamp: new Date().toISOString() });
      case 'GET /ui/agents':
        return json({ agents: demoAgents, entrypoint: 'supervisor' });
      case 'GET /swarms':
        return json({ swarms: [] });
    }
    if (pathname.startsWith('/ui/') && !debug) return json({ detail: 'Not found' }, 404);
    if (owner instanceof Response) return owner;
    switch (`${request.method} ${pathname}`) {
      case 'GET /whoami':
        return json({ id: owner, role: 'user' });
      case 'GET /tasks':
        return json(Object.fromEntries(this.#findTasks(owner).map((task) => [task.id, toRecord(task)])));
      case 'GET /ui/tasks':
        return json(this.#findTasks(owner).map((task) => toSummary(task)));
      case 'POST /message':
      case 'POST /ui/message':
        return this.#message(request, owner);
    }
    const task = pathname.startsWith('/ui/task/') && this.#tasks.get(decodeURIComponent(pathname.slice(9)));
    return task ? json(toRecord(task)) : json({ detail: 'Not Found' }, 404);
  }

  #findTasks(owner: string): DemoTask[] {
    return [...this.#tasks.values()].filter((task) => task.owner === owner);
  }

  #authenticate({ headers }: Request): string | Response {
    const authorization = headers.get('authorization');
    if (authorization === null) return json({ detail: 'no API key provided' }, 401);
    const key = /^Bearer (.+)$/.exec(authorization)?.[1];
    if (key === undefined) return json({ detail: 'invalid role' }, 401);
    const { apiKey = key } = this.#options;
    return key === apiKey ? `user-${key.length}` : json({ detail: 'invalid API key' }, 401);
  }

  async #message(request: Request, owner: string): Promise<Response> {
    const body = parseJson(await request.text());
    if (typeof body !== 'object' || body === null) return json({ detail: 'error parsing request: invalid JSON' }, 400);
    const message = asFields(body);
    const isDebug = owner === debugUser;
    const from = asNonEmptyText(message.resume_from);
    if (from !== 'breakpoint_tool_call' && !asNonEmptyText(message.body))
      return json({ detail: 'no message provided' }, 400);
    const id = asNonEmptyText(message.task_id) ?? generateId();
    const task = this.#tasks.get(id) ?? new DemoTask(id, owner, () => new Date(), generateId);
    const start = task.events.length;
    const error = this.#submit(task, from, isDebug ? { ...message, kwargs: {} } : message);
    if (message.stream ?? isDebug) return this.#stream(task, start, error);
    return this.#respondOnce(task, error);
  }

  /** Starts the request. Returns an error message if it is invalid. */
  #submit(task: DemoTask, from: string | undefined, message: Fields): string | undefined {
    const pace = async (): Promise<void> => {
      const { paceMs = 400 } = this.#options;
      await pause(paceMs);
    };
    const text = asText(message.body) ?? '';
    if (from !== undefined && !this.#tasks.has(task.id)) return `task '${task.id}' not found`;
    this.#tasks.set(task.id, task);
    if (from === 'breakpoint_tool_call') return this.#resume(task, asFields(message.kwargs), pace);
    if (from !== undefined && from !== 'user_response') return undefined;
    const to = asNonEmptyText(message.entrypoint) ?? 'supervisor';
    const wasCompleted = task.isCompleted;
    if (from === 'user_response') task.isCompleted = false;
    task.end = undefined;
    task.isRunning = true;
    task.sendMessage(
      { address_type: 'user', address: task.owner },
      [to],
      asText(message.subject) ?? 'New Message',
      text,
    );
    if (wasCompleted && from === undefined) {
      task.call('supervisor', 'task_complete', { finish_message: 'This answer is never read.' });
      task.log('task_complete_call_duplicate', 'agent supervisor called task_complete on already completed task');
    } else void playRequest(task, text, pace);
    return undefined;
  }

  #resume(task: DemoTask, kwargs: Fields, pace: () => Promise<void>): string | undefined {
    const given = kwargs.breakpoint_tool_call_result;
    if (given === undefined) return "required keyword argument 'breakpoint_tool_call_result' not provided";
    if (task.pending.length === 0) {
      return `last breakpoint caller for task '${task.id}' is not set and no breakpoint tool caller was provided`;
    }
    const parsed = typeof given === 'string' ? parseJson(given) : given;
    const results = Array.isArray(parsed) ? asArray(parsed) : [parsed];
    for (const key of ['call_id', 'content']) if (results.some((item) => !(key in asFields(item)))) return `'${key}'`;
    task.end = undefined;
    task.isRunning = true;
    for (const { content } of results.map(asFields)) {
      task.log(
        'breakpoint_action_complete',
        `breakpoint action complete (caller = supervisor):\n${asText(content) ?? ''}`,
      );
    }
    void playAnswer(task, results, pace);
    return undefined;
  }

  /** Streams the events of the task. Disconnecting does not stop the task. */
  #stream(task: DemoTask, start: number, error: string | undefined): Response {
    const { stallMs = defaultStallMs } = this.#options;
    const encoder = new TextEncoder();
    let next = start;
    const encode = (event: string, data: object): Uint8Array<ArrayBuffer> => encoder.encode(toFrame(event, data));
    const last = (event: string, response: string): Uint8Array<ArrayBuffer> =>
      encode(event, { timestamp: task.timestamp(), task_id: task.id, response });
    const body = pullStream<Uint8Array<ArrayBuffer>>({
      async pull(emit) {
        const event = task.events[next];
        if (event) {
          next += 1;
          emit(encode(event.event, event.data));
          return true;
        }
        if (error !== undefined || (task.end && !task.end.isStalled)) {
          emit(error === undefined ? last('task_complete', task.end?.response ?? '') : last('task_error', error));
          return false;
        }
        if ((await task.waitForChange(stallMs)) === 'change') return true;
        emit(encode('ping', { timestamp: task.timestamp(), task_id: task.id }));
        if (task.end) emit(last('task_complete', task.end.response));
        return !task.end;
      },
      cancel: () => task.wake(),
    });
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
    return new Response(body, { headers });
  }

  async #respondOnce(task: DemoTask, error: string | undefined): Promise<Response> {
    if (error !== undefined) return json({ response: `The task encountered an error: ${error}.`, events: null });
    while (!task.end) await task.waitForChange(defaultStallMs);
    return json({ response: task.end.response, events: null });
  }
}

const serverInfo = {
  name: 'mail',
  protocol_version: '1.3',
  swarm: {
    name: demoSwarm,
    version: '1.3.6',
    description: 'A scripted swarm without a key or a model. Its answers are invented and labelled as such.',
    entrypoint: 'supervisor',
    keywords: ['demo'],
    public: false,
  },
  status: 'running',
  uptime: 1,
};

function toSummary({ id, owner, startedAt, events, isRunning, isCompleted }: DemoTask): object {
  return {
    task_id: id,
    task_owner: owner,
    start_time: startedAt,
    is_running: isRunning,
    completed: isCompleted,
    event_count: events.length,
  };
}

function toRecord(task: DemoTask): object {
  const events = task.events.map(({ event, data }) => ({ event, data: toEscapedJson(data), id: null }));
  return { ...toSummary(task), events };
}

function toFrame(event: string, data: object): string {
  return `event: ${event}\r\ndata: ${toEscapedJson(data)}\r\n\r\n`;
}

/** Serializes like the real server: ASCII only, with escaped slashes. */
function toEscapedJson(data: object): string {
  return JSON.stringify(data)
    .replaceAll('/', String.raw`\/`)
    .replaceAll(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function json(value: unknown, status = 200): Response {
  return Response.json(value, { status });
}
