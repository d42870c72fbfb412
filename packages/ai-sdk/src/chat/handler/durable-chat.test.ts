import {
  createInMemoryStore,
  RunRefusedError,
  type AgentEvent,
  type DurableAgent,
  type DurableRun,
  type RunRecord,
  type RunRequest,
} from '@intertie/core';
import type { Followed } from '@intertie/core/internal';
import type { RunRefusal, StopResult } from '@intertie/core/store';
import { describe, expect, test, vi } from 'vitest';
import { createChatHandler } from './create-chat-handler.ts';
import type { DurableChatHandlerOptions } from './durable-chat.ts';

const log: AgentEvent[] = [
  { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
  { type: 'text-start', id: 'x' },
  { type: 'text-delta', id: 'x', delta: 'Hello' },
  { type: 'text-end', id: 'x' },
];
const end: AgentEvent = { type: 'run-end', outcome: 'complete', finishReason: 'stop' };
const events = (...items: AgentEvent[]): Followed => ({
  type: 'events',
  events: items,
  position: { epoch: 1, seq: items.length },
});

type Fake = { followed?: Array<Followed | Error>; record?: Partial<RunRecord>; refusal?: RunRefusal; none?: true };

/** Agent with one scripted run, for states that a real agent cannot reach deterministically. */
function fake({ followed = [events(...log, end)], record, refusal, none }: Fake = {}) {
  const onCancel = vi.fn<() => void>();
  const stop = vi.fn<() => Promise<StopResult>>(async () => 'requested');
  const start = vi.fn<(request: RunRequest) => Promise<DurableRun>>(async () => {
    if (refusal) throw new RunRefusedError(refusal);
    return run;
  });
  const run: DurableRun = {
    runId: 'r',
    threadId: 't',
    messageId: 'm',
    record: async () => ({ state: 'running', key: 'key', ...record }) as RunRecord,
    stop,
    follow() {
      const items = [...followed];
      return new ReadableStream<Followed>(
        {
          pull(controller) {
            const item = items.shift();
            if (item instanceof Error) throw item;
            if (item) return controller.enqueue(item);
            return new Promise(() => undefined);
          },
          cancel: onCancel,
        },
        { highWaterMark: 0 },
      );
    },
  };
  const store = createInMemoryStore();
  const known = async (): Promise<DurableRun | null> => (none ? null : run);
  const agent = {
    name: 'fake',
    source: { name: 'fake', pauses: 'replay' },
    store,
    start,
    find: known,
    latest: known,
  } as unknown as DurableAgent;
  return { agent, store, start, stop, onCancel };
}

const user = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'hi' }] };
const post = (body: object = {}, headers: Record<string, string> = {}): Request =>
  new Request('http://localhost/api/chat', {
    method: 'POST',
    headers,
    body: JSON.stringify({ id: 't', messages: [user], trigger: 'submit-message', ...body }),
  });
const get = (path = 't/stream'): Request => new Request(`http://localhost/api/chat/${path}`);
const postStop = (path = 't/stop'): Request => new Request(`http://localhost/api/chat/${path}`, { method: 'POST' });
const handle = (made: { agent: DurableAgent }, request: Request, options?: DurableChatHandlerOptions) =>
  createChatHandler(made.agent, options)(request);
const typesIn = (text: string): string =>
  Array.from(text.matchAll(/^data: {"type":"([a-z-]+)"/gm), ([, type]) => type).join(' ');

describe('createChatHandler with an agent', () => {
  test('sends run, message and a cursor for each frame', async () => {
    const made = fake();
    const response = await handle(made, post());
    expect(response.headers.get('x-intertie-run')).toBe('r');
    expect(response.headers.get('x-intertie-message')).toBe('m');
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    const text = await response.text();
    expect(typesIn(text)).toBe('start start-step text-start text-delta text-end finish-step finish');
    expect(text).toMatch(/^id: ui1-6r11011~1\.1\.0\ndata: /);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('replaces live runs and supersedes waiting ones by default', async () => {
    const made = fake();
    await handle(made, post());
    expect(made.start.mock.lastCall?.[0]).toMatchObject({ busy: 'replace', pending: 'supersede', threadId: 't' });
    await handle(made, post(), { busy: 'queue', pending: 'reject', by: () => 'ada' });
    expect(made.start.mock.lastCall?.[0]).toMatchObject({ busy: 'queue', pending: 'reject', by: 'ada' });
    await handle(made, post(), { prepare: () => ({ busy: 'reject', resourceId: 'ada' }) });
    expect(made.start.mock.lastCall?.[0]).toMatchObject({ busy: 'reject', resourceId: 'ada' });
  });

  test('reads tools, context and state from the body without a prepare hook', async () => {
    const made = fake();
    const body = {
      tools: [{ name: 'pick', inputSchema: { type: 'object' }, execute: 'no' }, { description: 'nameless' }, 7],
      context: [{ description: 'where', value: 'here' }, { description: 'nothing' }],
      state: { a: 1 },
    };
    await handle(made, post(body));
    expect(made.start.mock.lastCall?.[0]).toMatchObject({
      tools: [{ name: 'pick', inputSchema: { type: 'object' } }],
      context: [{ description: 'where', value: 'here' }],
      state: { a: 1 },
    });
    await handle(made, post(body), { prepare: () => undefined });
    expect(made.start.mock.lastCall?.[0]).not.toHaveProperty('tools');
  });

  test('accepts only the last message and appends it to the thread', async () => {
    const made = fake();
    const message = { ...user, id: 'u2' };
    const body = JSON.stringify({ id: 't', message });
    await handle(made, new Request('http://localhost/api/chat', { method: 'POST', body }));
    expect(made.start.mock.lastCall?.[0]).toMatchObject({ threadId: 't', message: { id: 'u2' } });
    expect(made.start.mock.lastCall?.[0]).not.toHaveProperty('parentId');
  });

  test('rejects a body without messages and names both fields that it can have', async () => {
    const body = JSON.stringify({ id: 't' });
    const response = await handle(fake(), new Request('http://localhost/api/chat', { method: 'POST', body }));
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('neither \\"messages\\" nor \\"message\\"');
  });

  test('ignores author and parent in the body', async () => {
    const made = fake();
    await handle(made, post({ by: 'root', parentId: 'x', threadId: 'other', resourceId: 'other' }));
    expect(made.start.mock.lastCall?.[0]).toMatchObject({ threadId: 't', parentId: null });
    expect(made.start.mock.lastCall?.[0]).not.toHaveProperty('by');
    expect(made.start.mock.lastCall?.[0]).not.toHaveProperty('resourceId');
  });

  test('does not stop the run when the client disconnects', async () => {
    const made = fake({ followed: [events(...log)] });
    const response = await handle(made, post());
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    expect(made.onCancel).toHaveBeenCalledOnce();
    expect(made.stop).not.toHaveBeenCalled();
  });

  test('breaks the stream when the log cannot be read', async () => {
    const made = fake({ followed: [events(...log), new Error('away')] });
    const response = await handle(made, post());
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('Hello');
    await expect(reader.read()).rejects.toThrow('away');
  });

  test('breaks the stream when the log is rewritten', async () => {
    const made = fake({ followed: [events(...log), { type: 'reset' }] });
    await expect((await handle(made, post())).text()).rejects.toThrow('rewritten');
  });

  test('stops following the run when the stream fails', async () => {
    const made = fake({ followed: [events(...log), { type: 'reset' }] });
    await expect((await handle(made, post())).text()).rejects.toThrow('rewritten');
    expect(made.onCancel).toHaveBeenCalledOnce();
  });

  test('streams the end of a run that never started', async () => {
    const ended: Followed = { type: 'ended', event: { type: 'run-end', outcome: 'aborted', by: 'user' } };
    const text = await (await handle(fake({ followed: [ended] }), post())).text();
    expect(typesIn(text)).toMatch(/^start .*abort$/);
    expect(text).not.toMatch(/^id: /m);
  });

  test('sends keep-alive comments without a cursor', async () => {
    const made = fake({ followed: [] });
    const response = await handle(made, post(), { keepAliveMs: 5 });
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(': keep-alive\n\n');
    await reader.cancel();
  });
});

describe('resume', () => {
  const message = (made: ReturnType<typeof fake>) =>
    made.store.saveMessages({
      messages: [
        {
          id: 'm',
          threadId: 't',
          role: 'assistant',
          type: 'text',
          status: 'complete',
          createdAt: new Date(0),
          content: { format: 2, parts: [{ type: 'text', id: 'x', text: 'Stored.' }] },
        },
      ],
    });
  const ended = { state: 'complete', endedAt: new Date(10_000) } as const;

  test('responds 204 for a thread without a run', async () => {
    expect((await handle(fake({ none: true }), get())).status).toBe(204);
  });

  test('replays a recently finished message from the store', async () => {
    const made = fake({ record: ended, followed: [] });
    await message(made);
    const response = await handle(made, get(), { now: () => 60_000 });
    expect(response.headers.get('x-intertie-message')).toBe('m');
    const text = await response.text();
    expect(text).toContain('Stored.');
    expect(typesIn(text)).toMatch(/^start .* finish$/);
    expect((await handle(made, get(), { now: () => 70_001 })).status).toBe(204);
    expect((await handle(made, get(), { now: () => 60_000, replayEndedMs: 0 })).status).toBe(204);
  });

  test('replays the stored message of a run whose log was dropped', async () => {
    const made = fake({ followed: [{ type: 'dropped' }] });
    await message(made);
    expect(await (await handle(made, get())).text()).toContain('Stored.');
    const gone = fake({ followed: [{ type: 'dropped' }] });
    await expect((await handle(gone, get())).text()).rejects.toThrow('was deleted');
  });

  test('reads the thread id from the path or from getThreadId', async () => {
    const made = fake();
    const latest = vi.spyOn(made.agent, 'latest');
    await handle(made, get('a%2Fb%20c/stream'));
    expect(latest).toHaveBeenLastCalledWith({ threadId: 'a/b c' });
    await handle(made, get('resume'), { getThreadId: () => 'given' });
    expect(latest).toHaveBeenLastCalledWith({ threadId: 'given' });
    for (const path of ['stream', '%E0%A4/stream']) {
      const refused = await handle(made, get(path === 'stream' ? '' : path));
      expect(refused.status).toBe(400);
    }
  });
});

describe('stop', () => {
  test('stops the named run or the latest run of the thread', async () => {
    const made = fake();
    const response = await handle(made, postStop());
    expect(await response.json()).toEqual({ run: 'r', result: 'requested' });
    const find = vi.spyOn(made.agent, 'find');
    await handle(made, postStop('t/stop?run=r'));
    expect(find).toHaveBeenCalledWith({ runId: 'r', threadId: 't' });
    expect(made.stop).toHaveBeenCalledTimes(2);
  });

  test('rejects a stop of an unknown run', async () => {
    const response = await handle(fake({ none: true }), postStop('t/stop?run=r9'));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'not-found' } });
  });
});

describe('errors', () => {
  const live = { runId: 'r', threadId: 't' } as RunRecord;

  test.each<[RunRefusal, number]>([
    [{ code: 'busy', live }, 409],
    [{ code: 'queue-full', live }, 429],
    [{ code: 'pending', decisions: [] }, 409],
    [{ code: 'key-reused', run: null }, 422],
    [{ code: 'run-exists', run: live }, 409],
    [{ code: 'not-found', what: 'thread' }, 404],
    [{ code: 'closing' }, 503],
  ])('maps the refusal $code to a status and an error code', async (refusal, status) => {
    const response = await handle(fake({ refusal }), post());
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe(refusal.code);
    expect(error.message).toBe(new RunRefusedError(refusal).message);
  });

  test('maps store errors of all requests to a status', async () => {
    const made = fake();
    expect((await handle(made, new Request('http://localhost/', { method: 'PUT' }))).status).toBe(405);
    expect((await handle(made, post({}), { limits: { bodyBytes: 3 } })).status).toBe(413);
    const response = await handle(made, post({ messages: [] }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid-request' } });
    const unknown = { id: 'm9', role: 'assistant', parts: [] };
    expect((await handle(made, post({ messages: [unknown] }))).status).toBe(404);
    const thrown = new Response('No.', { status: 402 });
    expect(
      await handle(made, post(), {
        prepare: () => {
          throw thrown;
        },
      }),
    ).toBe(thrown);
  });

  test('rethrows errors that the client did not cause', async () => {
    const made = fake();
    made.start.mockRejectedValueOnce(new Error('database'));
    await expect(handle(made, post())).rejects.toThrow('database');
  });
});
