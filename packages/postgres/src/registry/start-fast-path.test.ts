import type { MessageInput, StartRequest } from '@intertie/core/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { counting } from '../../test/counting.ts';
import { databases, emptyTables, openPostgres } from '../../test/databases.ts';
import type { Database } from '../database.ts';
import { PostgresMemoryStore } from '../postgres-store.ts';

const message = (id: string, rest: Partial<MessageInput> = {}): MessageInput => ({
  id,
  threadId: 't',
  role: 'user',
  type: 'text',
  createdAt: new Date(0),
  content: { format: 2, parts: [{ type: 'text', text: id }] },
  ...rest,
});

const request = (n: number, rest: Partial<StartRequest> = {}): StartRequest => ({
  threadId: 't',
  runId: `r${n}`,
  agent: 'helper',
  process: 'p1',
  messageId: `a${n}`,
  message: message(`u${n}`),
  busy: 'reject',
  pending: 'supersede',
  input: { n },
  idempotency: { key: `k${n}`, hash: 'h' },
  ...rest,
});

describe.each(databases)('a start on $name', { timeout: 60_000 }, ({ open }) => {
  let database: Database;
  let counted: ReturnType<typeof counting>;
  let store: PostgresMemoryStore;
  beforeAll(async () => {
    database = await open();
    counted = counting(database);
    store = PostgresMemoryStore.on(counted.database);
  }, 60_000);
  beforeEach(async () => {
    await emptyTables(database);
    await store.registry.heartbeat('p1');
  });
  afterAll(() => database.close());

  const end = async (n: number): Promise<void> => {
    const live = await store.registry.liveRun(store.scope, { threadId: 't' });
    const content = { format: 2 as const, parts: [{ type: 'text' as const, text: `answer ${n}` }] };
    const finished = { nextSeq: 1, events: [], outcome: { outcome: 'complete' as const }, content };
    expect(await store.registry.finish(live!.key, 1, finished)).toMatchObject({ result: 'ok' });
  };

  it('takes one statement in a new thread and at the head of a thread', async () => {
    for (const n of [1, 2, 3]) {
      counted.statements.length = 0;
      const rest = n === 3 ? { parentId: 'a2' } : {};
      const started = await store.registry.start(store.scope, request(n, rest));
      expect(counted.statements).toHaveLength(1);
      expect(started).toMatchObject({ type: 'started', epoch: 1, nextSeq: 1, superseded: [] });
      expect(started).toMatchObject({ run: await store.registry.findRun(store.scope, { runId: `r${n}` }) });
      await end(n);
    }
    const messages = await store.listMessages({ threadId: 't' });
    expect(messages.map(({ id, parentId }) => [id, parentId])).toEqual([
      ['u1', undefined],
      ['a1', 'u1'],
      ['u2', 'a1'],
      ['a2', 'u2'],
      ['u3', 'a2'],
      ['a3', 'u3'],
    ]);
    expect(await store.listMessages({ threadId: 't', limit: 2 })).toEqual(messages.slice(-2));
  });

  it('reads the newest messages of the branch in the statement of the start', async () => {
    await store.saveMessages({ messages: ['m1', 'm2', 'm3'].map((id) => message(id)) });
    await store.saveMessages({ messages: [message('other', { parentId: 'm1' }), message('m4', { parentId: 'm3' })] });
    for (const [n, historyLimit] of [2, 3, 5, 100].entries()) {
      counted.statements.length = 0;
      const started = await store.registry.start(store.scope, request(n, { historyLimit, parentId: 'm4' }));
      // The hints of earlier saves are sent later.
      const waited = counted.statements.filter((text) => !text.startsWith('select pg_notify'));
      expect(waited).toHaveLength(1);
      const leafId = `a${n}`;
      expect(started).toMatchObject({ type: 'started' });
      expect('messages' in started && started.messages).toEqual(
        await store.listMessages({ threadId: 't', leafId, limit: historyLimit }),
      );
      await end(n);
      await store.saveThread({ thread: { id: 't', headId: 'm4' } });
    }
    const root = await store.registry.start(store.scope, request(9, { historyLimit: 5, parentId: null }));
    expect('messages' in root && root.messages?.map(({ id }) => id)).toEqual(['u9', 'a9']);
  });

  it('writes nothing when the fast path does not apply', async () => {
    await store.registry.start(store.scope, request(1));
    const other = request(2, { threadId: 'other', message: message('u2', { threadId: 'other' }) });
    const reused = await store.registry.start(store.scope, { ...other, idempotency: { key: 'k1', hash: 'else' } });
    expect(reused).toMatchObject({ type: 'refused', reason: 'key-reused' });
    expect(await store.getThreadById({ threadId: 'other' })).toBeNull();
    expect(await store.registry.start(store.scope, request(3))).toMatchObject({ type: 'refused', reason: 'busy' });
    expect(await store.listMessages({ threadId: 't' })).toHaveLength(2);
    const again = request(4, { idempotency: { key: 'k1', hash: 'h' } });
    expect(await store.registry.start(store.scope, again)).toMatchObject({ type: 'attached', run: { runId: 'r1' } });
    expect(await store.registry.start(store.scope, { ...other, parentId: 'missing' })).toMatchObject({
      type: 'refused',
      reason: 'not-found',
    });
  });

  it('rejects a start if another one commits while it waits for the thread lock', async () => {
    await store.saveMessages({ messages: [message('m1')] });
    const results = await Promise.all([1, 2, 3, 4].map((n) => store.registry.start(store.scope, request(n))));
    expect(results.map(({ type }) => type).toSorted()).toEqual(['refused', 'refused', 'refused', 'started']);
    const keyed = [5, 6, 7].map((n) =>
      request(n, {
        threadId: `t${n}`,
        message: message('u', { threadId: `t${n}` }),
        idempotency: { key: 'k', hash: 'h' },
      }),
    );
    const same = await Promise.all(keyed.map((one) => store.registry.start(store.scope, one)));
    expect(same.map(({ type }) => type).toSorted()).toEqual(['attached', 'attached', 'started']);
    expect((await store.listThreads()).threads).toHaveLength(2);
  });
});

it('detects a run that was committed while it waited for the thread lock', async () => {
  const database = await openPostgres();
  const store = PostgresMemoryStore.on(database);
  onTestFinished(() => store.close());
  await store.registry.heartbeat('p1');
  await store.saveMessages({ messages: [message('m1')] });
  let started: ReturnType<typeof store.registry.start> | undefined;
  await database.transaction(async (sql) => {
    const [thread] = await sql.query<{ uuid: string }>(
      'update intertie.threads set version = version + 1 returning id::text as uuid',
    );
    started = store.registry.start(store.scope, request(2));
    await vi.waitFor(async () =>
      expect(
        await database.query(
          "select 1 as waits from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'seen'",
        ),
      ).toHaveLength(1),
    );
    await sql.query(
      `with run as (
          insert into intertie.runs (id, thread_id, message_id, client_run_id, agent, state)
          values (gen_random_uuid(), $1::text::uuid, 'm1', 'r1', 'helper', 'running') returning id, thread_id)
        insert into intertie.run_live (run_id, thread_id, process) select id, thread_id, 'p1' from run`,
      [thread!.uuid],
    );
  });
  expect(await started).toMatchObject({ type: 'refused', reason: 'busy', live: { runId: 'r1' } });
}, 60_000);
