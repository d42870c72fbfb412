import { canonical, check } from '@intertie/conformance';
import {
  foldEvents,
  iterate,
  type AgentEvent,
  type AgentSource,
  type CanonicalMessage,
  type Json,
  type RunInput,
} from '@intertie/core';
import { createResumePoint, omit } from '@intertie/core/internal';
import { describe, expect, it } from 'vitest';
import { readAll } from '../../../core/test/read-all.ts';
import { runControl } from '../../../core/test/run-control.ts';
import { run } from '../../test/captures.ts';
import { createMAILDemo } from '../demo/demo-handler.ts';
import { mailSource } from './mail-source.ts';

const empty: CanonicalMessage = {
  id: run.messageId,
  threadId: run.threadId,
  role: 'assistant',
  type: 'text',
  content: { format: 2, parts: [] },
  createdAt: new Date(0),
};

type Demo = { source: AgentSource; posts: unknown[]; restart(): void };

/** Source of a demo swarm. `restart` loses its tasks. */
function createSource(): Demo {
  let demo = createMAILDemo({ paceMs: 1 });
  const posts: unknown[] = [];
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    if (init?.method === 'POST') posts.push(JSON.parse(init.body as string));
    return demo.fetch(new Request(url, init));
  };
  const source = mailSource({ baseUrl: 'http://demo', authToken: 'key', fetch });
  return { source, posts, restart: () => void (demo = createMAILDemo({ paceMs: 1 })) };
}

function ask(text: string, input: Partial<RunInput> = {}): RunInput {
  const user: CanonicalMessage = {
    ...empty,
    id: 'u',
    role: 'user',
    content: { format: 2, parts: [{ type: 'text', text }] },
  };
  return { ...run, history: [user], ...input };
}

async function resume({ source }: Demo, input: RunInput, log: AgentEvent[]): Promise<AgentEvent[]> {
  const stored = { ...empty, content: input.message ?? empty.content };
  const from = createResumePoint(stored, log);
  return readAll(source.resume!({ ...input, epoch: 2 }, from, runControl()));
}

/** The time of the last events is that of the reader: the record does not contain the end of the stream. */
function withoutTimes(events: readonly AgentEvent[]): unknown[] {
  return events.flatMap((event) => (event.type === 'checkpoint' ? [] : [omit(event, 'at')]));
}

type RunEnd = Extract<AgentEvent, { type: 'run-end' }>;
const getResume = (events: readonly AgentEvent[]): RunEnd['resume'] => (events.at(-1) as RunEnd).resume;
const findCheckpoint = (events: readonly AgentEvent[]): number => events.findIndex(({ type }) => type === 'checkpoint');

const isCheckpointOfRequest = (event: AgentEvent): boolean =>
  event.type === 'checkpoint' && !('isPlanned' in (event.token as object));

/** Runs to the end, and resumes after every event since the checkpoint, before which the request is not sent. */
async function runAndResume(demo: Demo, input: RunInput): Promise<AgentEvent[]> {
  const whole = await readAll(demo.source.run(input, runControl()));
  const sent = demo.posts.length;
  for (let length = whole.findIndex(isCheckpointOfRequest) + 1; length < whole.length; length += 1) {
    const rest = await resume(demo, input, whole.slice(0, length));
    expect(withoutTimes(rest), `after ${length} events`).toEqual(withoutTimes(whole.slice(length)));
  }
  expect(demo.posts).toHaveLength(sent);
  return whole;
}

describe('resume of mailSource', () => {
  it.each(['tea', 'please fail'])('continues "%s" after every event with the rest of the run', async (text) => {
    const events = await runAndResume(createSource(), ask(text));
    expect(check(canonical, events).violations).toEqual([]);
  });

  it('continues a breakpoint, its answer and a later turn of the task after every event', async () => {
    const demo = createSource();
    const paused = await runAndResume(demo, ask('plan a trip'));
    expect(paused.at(-1)).toMatchObject({ outcome: 'paused', resume: { lastFrameKey: expect.any(String) } });
    const message = foldEvents(paused)!.content;
    const { toolCallId } = message.parts.find((part) => part.type === 'tool-invocation')!;
    const answers = [{ toolCallId, status: 'ok' as const, output: 'time' }];
    const input = { runId: 'r2', resumes: 'r', message, answers, sourceState: getResume(paused)! };
    const answered = await runAndResume(demo, ask('plan a trip', input));
    expect(answered.at(-1)).toMatchObject({ outcome: 'complete' });
    const next = await runAndResume(demo, ask('coffee', { runId: 'r3', sourceState: getResume(answered)! }));
    expect(next.at(-1)).toMatchObject({ outcome: 'complete' });
    expect(new Set(demo.posts.map((post) => (post as { task_id: string }).task_id)).size).toBe(1);
  });

  it('continues the task that replaced a lost one after every event', async () => {
    const demo = createSource();
    const first = await readAll(demo.source.run(ask('tea'), runControl()));
    demo.restart();
    const events = await runAndResume(demo, ask('coffee', { runId: 'r2', sourceState: getResume(first)! }));
    expect(events.filter(({ type }) => type === 'checkpoint')).toHaveLength(2);
    expect(events).toContainEqual(expect.objectContaining({ type: 'notice', level: 'warning' }));
  });

  it('follows a task that another process hands over while it runs', async () => {
    const demo = createSource();
    const control = new AbortController();
    const log: AgentEvent[] = [];
    for await (const event of iterate(demo.source.run(ask('tea'), runControl({ signal: control.signal })))) {
      log.push(event);
      if (event.type === 'reasoning-start') break;
    }
    control.abort({ by: 'system', message: 'hand-over' });
    const rest = await resume(demo, ask('tea'), log);
    expect(rest.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
    expect(check(canonical, [...log, ...rest]).violations).toEqual([]);
    expect(demo.posts).toHaveLength(1);
  });

  it('sends the request if the server has not received it', async () => {
    const demo = createSource();
    const whole = await readAll(demo.source.run(ask('tea'), runControl()));
    demo.restart();
    const rest = await resume(demo, ask('tea'), whole.slice(0, findCheckpoint(whole) + 1));
    expect(rest.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
    expect(demo.posts[1]).toEqual(demo.posts[0]);
  });

  it('does not send the request again if the server receives it after the process has died', async () => {
    const demo = createMAILDemo({ paceMs: 1 });
    const sent: Request[] = [];
    let reads = 0;
    const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const request = new Request(url, init);
      if (init?.method !== 'POST') {
        const response = await demo.fetch(request);
        reads += 1;
        // The server receives the request of the dead process after the first read of its tasks.
        if (reads === 1) await demo.fetch(sent[0]!);
        return response;
      }
      sent.push(request);
      return new Promise(() => undefined);
    };
    const source = mailSource({ baseUrl: 'http://demo', authToken: 'key', fetch });
    const log: AgentEvent[] = [];
    const reader = source.run(ask('tea'), runControl()).getReader();
    while (log.at(-1)?.type !== 'checkpoint') log.push((await reader.read()).value!);
    void reader.read();
    await expect.poll(() => sent).toHaveLength(1);
    const rest = await resume({ source, posts: [], restart: () => undefined }, ask('tea'), log);
    expect(rest.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
    expect(sent).toHaveLength(1);
  });

  it.each([
    { message: 'another message', text: 'coffee', checkpoints: 1 },
    { message: 'another message', text: 'coffee', checkpoints: 2 },
    { message: 'the same message', text: 'tea', checkpoints: 2 },
  ])(
    'sends $message after a lost turn if the process dies after checkpoint $checkpoints',
    async ({ text, checkpoints }) => {
      const demo = createSource();
      const first = await readAll(demo.source.run(ask('tea'), runControl()));
      // A lost turn has the token of its last checkpoint, which names no event. The server has completed the task.
      const { token } = first[findCheckpoint(first)] as { token: Json };
      const next = ask(text, { runId: 'r2', sourceState: token });
      // The process dies before it sends the request.
      const dying = demo.source.run(next, runControl({ barrier: () => new Promise(() => undefined) })).getReader();
      const log: AgentEvent[] = [];
      while (log.filter(({ type }) => type === 'checkpoint').length < checkpoints)
        log.push((await dying.read()).value!);
      const rest = await resume(demo, next, log);
      expect(rest.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
      expect(demo.posts).toMatchObject([{ body: 'tea' }, { body: text }]);
    },
  );

  it('continues a turn that follows a lost one after every event', async () => {
    const demo = createSource();
    const first = await readAll(demo.source.run(ask('tea'), runControl()));
    const { token } = first[findCheckpoint(first)] as { token: Json };
    const events = await runAndResume(demo, ask('tea', { runId: 'r2', sourceState: token }));
    expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
  });

  it('ends as lost with the reason and the task if the server has lost the task', async () => {
    const demo = createSource();
    const whole = await readAll(demo.source.run(ask('tea'), runControl()));
    demo.restart();
    const rest = await resume(demo, ask('tea'), whole.slice(0, 6));
    expect(rest.at(-1)).toMatchObject({
      outcome: 'error',
      error: { code: 'lost', message: expect.stringMatching(/no longer has the task .* Send the message again/) },
      resume: { taskId: (demo.posts[0] as { task_id: string }).task_id },
    });
    expect(demo.posts).toHaveLength(1);
  });
});
