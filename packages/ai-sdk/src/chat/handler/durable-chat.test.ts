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
const events = (...said: AgentEvent[]): Followed => ({
  type: 'events',
  events: said,
  position: { epoch: 1, seq: said.length },
});

type Fake = { followed?: Array<Followed | Error>; record?: Partial<RunRecord>; refusal?: RunRefusal; none?: true };

/** What an agent says of a run, where no real one could be brought to say it in time. */
function fake({ followed = [events(...log, end)], record, refusal, none }: Fake = {}) {
  const left = vi.fn<() => void>();
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
          cancel: left,
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
  return { agent, store, start, stop, left };
}

const user = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'hi' }] };
const post = (body: object = {}, headers: Record<string, string> = {}): Request =>
  new Request('http://localhost/api/chat', {
    method: 'POST',
    headers,
    body: JSON.stringify({ id: 't', messages: [user], trigger: 'submit-message', ...body }),
  });
const get = (path = 't/stream'): Request => new Request(`http://localhost/api/chat/${path}`);
const stopping = (path = 't/stop'): Request => new Request(`http://localhost/api/chat/${path}`, { method: 'POST' });
const handle = (made: { agent: DurableAgent }, request: Request, options?: DurableChatHandlerOptions) =>
  createChatHandler(made.agent, options)(request);
const typesIn = (text: string): string =>
  Array.from(text.matchAll(/^data: {"type":"([a-z-]+)"/gm), ([, type]) => type).join(' ');

describe('a chat with an agent whose runs are kept', () => {
  test('is told the run, the message and each frame’s place in the log', async () => {
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

  test('replaces what is live and supersedes what waits, unless told otherwise', async () => {
    const made = fake();
    await handle(made, post());
    expect(made.start.mock.lastCall?.[0]).toMatchObject({ busy: 'replace', pending: 'supersede', threadId: 't' });
    await handle(made, post(), { busy: 'queue', pending: 'reject', by: () => 'ada' });
    expect(made.start.mock.lastCall?.[0]).toMatchObject({ busy: 'queue', pending: 'reject', by: 'ada' });
    await handle(made, post(), { prepare: () => ({ busy: 'reject', resourceId: 'ada' }) });
    expect(made.start.mock.lastCall?.[0]).toMatchObject({ busy: 'reject', resourceId: 'ada' });
  });

  test('brings tools, context and state in its body, where nobody prepares the run', async () => {
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

  test('may send its last message alone, which then follows the thread', async () => {
    const made = fake();
    const message = { ...user, id: 'u2' };
    const body = JSON.stringify({ id: 't', message });
    await handle(made, new Request('http://localhost/api/chat', { method: 'POST', body }));
    expect(made.start.mock.lastCall?.[0]).toMatchObject({ threadId: 't', message: { id: 'u2' } });
    expect(made.start.mock.lastCall?.[0]).not.toHaveProperty('parentId');
  });

  test('cannot say by its body who it is or which message it follows', async () => {
    const made = fake();
    await handle(made, post({ by: 'root', parentId: 'x', threadId: 'other', resourceId: 'other' }));
    expect(made.start.mock.lastCall?.[0]).toMatchObject({ threadId: 't', parentId: null });
    expect(made.start.mock.lastCall?.[0]).not.toHaveProperty('by');
    expect(made.start.mock.lastCall?.[0]).not.toHaveProperty('resourceId');
  });

  test('that leaves does not stop the run', async () => {
    const made = fake({ followed: [events(...log)] });
    const response = await handle(made, post());
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    expect(made.left).toHaveBeenCalledOnce();
    expect(made.stop).not.toHaveBeenCalled();
  });

  test('is not told that the message is over when the log is out of reach', async () => {
    const made = fake({ followed: [events(...log), new Error('away')] });
    const response = await handle(made, post());
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('Hello');
    await expect(reader.read()).rejects.toThrow('away');
  });

  test('is not told a message anew in the middle when the log was rewritten', async () => {
    const made = fake({ followed: [events(...log), { type: 'reset' }] });
    await expect((await handle(made, post())).text()).rejects.toThrow('rewritten');
  });

  test('whose stream fails has left the run', async () => {
    const made = fake({ followed: [events(...log), { type: 'reset' }] });
    await expect((await handle(made, post())).text()).rejects.toThrow('rewritten');
    expect(made.left).toHaveBeenCalledOnce();
  });

  test('is told of a run that ended before it began', async () => {
    const ended: Followed = { type: 'ended', event: { type: 'run-end', outcome: 'aborted', by: 'user' } };
    const text = await (await handle(fake({ followed: [ended] }), post())).text();
    expect(typesIn(text)).toMatch(/^start .*abort$/);
    expect(text).not.toMatch(/^id: /m);
  });

  test('is kept alive without a place in the log', async () => {
    const made = fake({ followed: [] });
    const response = await handle(made, post(), { keepAliveMs: 5 });
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(': keep-alive\n\n');
    await reader.cancel();
  });
});

describe('what a chat has missed', () => {
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

  test('of a thread without a run: nothing', async () => {
    expect((await handle(fake({ none: true }), get())).status).toBe(204);
  });

  test('of a message that has just been finished: all of it, from the store', async () => {
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

  test('of a run whose log is gone: all of the message, from the store', async () => {
    const made = fake({ followed: [{ type: 'dropped' }] });
    await message(made);
    expect(await (await handle(made, get())).text()).toContain('Stored.');
    const gone = fake({ followed: [{ type: 'dropped' }] });
    await expect((await handle(gone, get())).text()).rejects.toThrow('was deleted');
  });

  test('the thread is the one in the path, or what the route says', async () => {
    const made = fake();
    const latest = vi.spyOn(made.agent, 'latest');
    await handle(made, get('a%2Fb%20c/stream'));
    expect(latest).toHaveBeenLastCalledWith({ threadId: 'a/b c' });
    await handle(made, get('resume'), { threadOf: () => 'given' });
    expect(latest).toHaveBeenLastCalledWith({ threadId: 'given' });
    for (const path of ['stream', '%E0%A4/stream']) {
      const refused = await handle(made, get(path === 'stream' ? '' : path));
      expect(refused.status).toBe(400);
    }
  });
});

describe('a stop', () => {
  test('reaches the run that is named, or the thread’s', async () => {
    const made = fake();
    const response = await handle(made, stopping());
    expect(await response.json()).toEqual({ run: 'r', result: 'requested' });
    const find = vi.spyOn(made.agent, 'find');
    await handle(made, stopping('t/stop?run=r'));
    expect(find).toHaveBeenCalledWith({ runId: 'r', threadId: 't' });
    expect(made.stop).toHaveBeenCalledTimes(2);
  });

  test('of what is not there is refused', async () => {
    const response = await handle(fake({ none: true }), stopping('t/stop?run=r9'));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'not-found' } });
  });
});

describe('a refusal', () => {
  const live = { runId: 'r', threadId: 't' } as RunRecord;

  test.each<[RunRefusal, number]>([
    [{ code: 'busy', live }, 409],
    [{ code: 'queue-full', live }, 429],
    [{ code: 'pending', decisions: [] }, 409],
    [{ code: 'key-reused', run: null }, 422],
    [{ code: 'run-exists', run: live }, 409],
    [{ code: 'not-found', what: 'thread' }, 404],
    [{ code: 'closing' }, 503],
  ])('$code has a status and a code', async (refusal, status) => {
    const response = await handle(fake({ refusal }), post());
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe(refusal.code);
    expect(error.message).toBe(new RunRefusedError(refusal).message);
  });

  test('of other requests too', async () => {
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

  test('what is our own fault is not the client’s', async () => {
    const made = fake();
    made.start.mockRejectedValueOnce(new Error('database'));
    await expect(handle(made, post())).rejects.toThrow('database');
  });
});
