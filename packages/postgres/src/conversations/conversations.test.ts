import { setTimeout as sleep } from 'node:timers/promises';

import type { Json } from '@intertie/core';
import type { MessageChange, MessageInput } from '@intertie/core/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { counting } from '../../test/counting.ts';
import { databases, emptyTables } from '../../test/databases.ts';
import type { Database } from '../database.ts';
import { PostgresMemoryStore } from '../postgres-store.ts';

const threadId = 't1';
const createdAt = new Date('2024-03-01T10:00:00.123Z');

function message(id: string, rest: Partial<MessageInput> = {}): MessageInput {
  const content = { format: 2 as const, parts: [{ type: 'text' as const, text: `I am ${id}.` }] };
  return { id, threadId, role: 'user', type: 'text', createdAt, content, ...rest };
}

const messages = (count: number): MessageInput[] => Array.from({ length: count }, (_, n) => message(`m${n + 1}`));

describe.each(databases)('conversations, $name', ({ open }) => {
  let database: Database;
  let statements: string[];
  let store: PostgresMemoryStore;
  beforeAll(async () => {
    const counted = counting(await open());
    ({ database, statements } = counted);
    store = PostgresMemoryStore.on(database);
  }, 60_000);
  beforeEach(async () => {
    await emptyTables(database);
    statements.length = 0;
  });
  afterAll(() => store.close());

  /** Number of statements of a call, without notifications. */
  const cost = async (call: () => Promise<unknown>): Promise<number> => {
    statements.length = 0;
    await call();
    return statements.filter((text) => !text.startsWith('select pg_notify')).length;
  };

  it('saves any number of new messages in one statement', { timeout: 30_000 }, async () => {
    expect(await cost(() => store.saveMessages({ messages: [message('a')] }))).toBe(1);
    expect(await cost(() => store.saveMessages({ messages: messages(1000), operationKey: 'k' }))).toBe(1);
    const next = { messages: [message('b', { parentId: 'm1000' })], expectedVersion: 2 };
    expect(await cost(() => store.saveMessages(next))).toBe(1);
    expect(await store.listMessages({ threadId })).toHaveLength(1002);
  });

  it('compresses only long messages', async () => {
    const textMessage = (id: string, length: number) => {
      const text = 'As easily compressed as text can be. '.repeat(length / 37);
      return message(id, { content: { format: 2, parts: [{ type: 'text', text }] } });
    };
    await store.saveMessages({
      messages: [textMessage('question', 300), textMessage('answer', 3700), textMessage('report', 37_000)],
    });
    const rows = await database.query(
      `select id, pg_column_compression(content) is not null as "isCompressed"
        from intertie.conversation_message order by seq`,
    );
    expect(rows).toEqual([
      { id: 'question', isCompressed: false },
      { id: 'answer', isCompressed: false },
      { id: 'report', isCompressed: true },
    ]);
  });

  it('takes two statements for an unchanged save and three for an update', async () => {
    await store.saveMessages({ messages: messages(3) });
    expect(await cost(() => store.saveMessages({ messages: messages(3) }))).toBe(2);
    expect(await cost(() => store.saveMessages({ messages: [message('m2', { state: 1 })] }))).toBe(3);
  });

  it('updates stored messages and inserts new ones in one call', async () => {
    await store.saveMessages({ messages: messages(2) });
    const call = { messages: [message('a'), message('m2', { state: 1 }), message('b')] };
    expect((await store.saveMessages(call)).version).toBe(2);
    const branch = await store.listMessages({ threadId });
    expect(branch.map(({ id, state }) => [id, state])).toEqual([
      ['m1', undefined],
      ['m2', 1],
      ['b', undefined],
    ]);
    expect(await store.getMessage({ threadId, messageId: 'a' })).toMatchObject({ parentId: 'm2' });
  });

  it('appends from 12 writers without gaps while a reader sees every change', { timeout: 30_000 }, async () => {
    const each = 15;
    const seen: string[] = [];
    let isDone = false;
    const follow = async (): Promise<void> => {
      for (let since = 0, isLast = false; !isLast;) {
        isLast = isDone;
        const changes: MessageChange[] = await store.listChanges({ threadId, since, limit: 20 });
        seen.push(...changes.map((change) => (change.type === 'message' ? change.message.id : '')));
        since = changes.at(-1)?.version ?? since;
        if (changes.length > 0) isLast = false;
        await sleep(5);
      }
    };
    const following = follow();
    const write = async (writer: number): Promise<void> => {
      for (let n = 0; n < each; n++) await store.saveMessages({ messages: [message(`w${writer}-${n}`)] });
    };
    await Promise.all(Array.from({ length: 12 }, (_, writer) => write(writer)));
    isDone = true;
    await following;
    const branch = await store.listMessages({ threadId });
    expect(branch).toHaveLength(12 * each);
    expect(seen).toEqual(branch.map(({ id }) => id));
    const numbers = await database.query<{ seq: number }>(
      'select seq::float8 as seq from intertie.conversation_message order by seq',
    );
    expect(numbers.map(({ seq }) => seq)).toEqual(Array.from({ length: 12 * each }, (_, n) => n + 1));
    expect(await store.getVersion({ threadId })).toBe(12 * each);
  });

  it('merges concurrent saves of one message without losing parts', async () => {
    await store.saveMessages({ messages: [message('m1')] });
    const part = (n: number) => ({ type: 'data' as const, id: `d${n}`, name: 'n', data: n });
    const grown = Array.from({ length: 12 }, (_, n) => message('m1', { content: { format: 2, parts: [part(n)] } }));
    await Promise.all(grown.map((one) => store.saveMessages({ messages: [one] })));
    const stored = await store.getMessage({ threadId, messageId: 'm1' });
    const [text, ...data] = stored!.content.parts;
    expect(text).toEqual({ type: 'text', text: 'I am m1.' });
    expect(new Set(data.map(({ id }) => id))).toEqual(new Set(grown.map((_, n) => `d${n}`)));
    expect(data).toHaveLength(grown.length);
  });

  it('executes a call with an operation key once despite concurrent retries', async () => {
    const call = { messages: [message('m1'), message('m2', { threadId: 't2' })], operationKey: 'k' };
    const results = await Promise.all([1, 2, 3, 4].map(() => store.saveMessages(call)));
    for (const result of results) expect(result).toEqual(results[0]);
    expect(await store.getVersion({ threadId })).toBe(1);
    const single = { messages: [message('m3')], operationKey: 'k3' };
    await Promise.all([1, 2, 3, 4].map(() => store.saveMessages(single)));
    expect(await store.getVersion({ threadId })).toBe(2);
  });

  it('deletes operation keys with their thread, including that of an unchanged save', async () => {
    const call = { messages: [message('m1')], operationKey: 'k' };
    await store.saveMessages({ messages: call.messages });
    await store.saveMessages(call);
    await store.deleteThread({ threadId });
    expect(await database.query('select key from intertie.requests')).toEqual([]);
    expect((await store.saveMessages(call)).messages).toHaveLength(1);
  });

  it('allows an operation key again after a day', async () => {
    await store.saveMessages({ messages: [message('m1')], operationKey: 'k' });
    await database.query(`update intertie.requests set created_at = created_at - interval '25 hours'`);
    await store.saveMessages({ messages: [message('m2')], operationKey: 'k' });
    await expect(store.saveMessages({ messages: [message('m1')], operationKey: 'k' })).rejects.toMatchObject({
      code: 'key-reused',
    });
  });

  it('stores NUL and lone surrogates unchanged', async () => {
    const text = 'a\0b \uD800 \uDC00 \uDBFF\uDFFF \\u0000';
    const whole = message('m1', {
      content: { format: 2, parts: [{ type: 'text', text }], metadata: { z: 1, a: [text], [text]: 2 } },
      state: { b: text, a: '10.5' },
    });
    await store.saveMessages({ messages: [whole] });
    await store.saveMessages({ messages: [{ ...whole, sourceState: text }] });
    const [row] = await database.query(
      'select content::text as content, state::text as state, source_state::text as token from intertie.conversation_message',
    );
    expect(row).toEqual({
      content: JSON.stringify(whole.content),
      state: JSON.stringify(whole.state),
      token: JSON.stringify(text),
    });
  });

  it.each<Json>(['10.5', 'true', 2 ** 60, 0.1, 'a\0\uD800', '', null, false, [], {}])(
    'preserves a tool result and a state of %j',
    async (json) => {
      const call = { type: 'tool-invocation', toolCallId: 'c1', toolName: 'search', state: 'result' } as const;
      const content = { format: 2 as const, parts: [{ ...call, args: {}, result: json }] };
      await store.saveMessages({ messages: [message('m1', { content, state: json })] });
      expect(await store.getMessage({ threadId, messageId: 'm1' })).toMatchObject({ content, state: json });
    },
  );

  it('compares JSON without the operator `=`, which the type json lacks', async () => {
    await store.saveMessages({ messages: [message('m1', { state: { n: 1 } })] });
    await store.saveMessages({ messages: [message('m1', { state: { n: 1 } })] });
    await store.saveMessages({ messages: [message('m1', { state: { n: 2 } })] });
    expect(await store.getVersion({ threadId })).toBe(2);
    const compare = database.query('select 1 as n from intertie.conversation_message where content = content');
    await expect(compare).rejects.toThrow(/json = json/);
  });

  it('merges messages with the same id in one call, per thread', async () => {
    const parts = [{ type: 'text' as const, text: 'I am m1. And more.' }];
    const twice = [message('m1'), message('m1', { content: { format: 2, parts } }), message('m2')];
    const { messages: saved } = await store.saveMessages({
      messages: [...twice, message('m1', { threadId: 't2' })],
    });
    expect(saved.map(({ content }) => content.parts)).toEqual([
      parts,
      parts,
      saved[2]!.content.parts,
      [{ type: 'text', text: 'I am m1.' }],
    ]);
    expect(await store.listMessages({ threadId })).toHaveLength(2);
    expect(await store.saveMessages({ messages: twice.map((one) => ({ ...one, threadId: 't3' })) })).toMatchObject({
      version: 1,
    });
  });

  it('preserves fields that this version does not know', async () => {
    const newer = { ...message('m1'), mood: { is: 'good' } } as MessageInput;
    await store.saveMessages({ messages: [newer] });
    expect(await store.getMessage({ threadId, messageId: 'm1' })).toEqual({ ...newer, status: 'complete' });
  });

  it.each([
    '0001-01-01T00:00:00.000Z',
    '-000043-03-15T12:00:00.001Z',
    '+010000-01-01T00:00:00.000Z',
    '0000-06-01T00:00:00.000Z',
    '1969-12-31T23:59:59.999Z',
    '-004712-01-01T00:00:00.001Z',
    '+275760-09-12T23:59:59.999Z',
  ])('preserves the time %s', async (time) => {
    await store.saveMessages({ messages: [message('m1', { createdAt: new Date(time) })] });
    expect((await store.getMessage({ threadId, messageId: 'm1' }))?.createdAt.toISOString()).toBe(
      new Date(time).toISOString(),
    );
  });

  it('rejects values that no column can store and names the field', async () => {
    const invalidField = (field: string) => ({ code: 'invalid', message: expect.stringContaining(field) });
    const save = (rest: Partial<MessageInput>) => store.saveMessages({ messages: [message('m1', rest)] });
    await expect(save({ resourceId: 'a\0' })).rejects.toMatchObject(invalidField('resourceId'));
    await expect(save({ runId: '\uD800' })).rejects.toMatchObject(invalidField('runId'));
    await expect(save({ createdAt: new Date(-8.64e15) })).rejects.toMatchObject(invalidField('createdAt'));
    await expect(store.saveThread({ thread: { id: 't', title: 'a\0b' } })).rejects.toMatchObject(invalidField('title'));
    // A value that cannot be an id is treated as an unknown id.
    await expect(save({ parentId: 'a\0' })).rejects.toMatchObject({ code: 'not-found' });
    const head = store.saveThread({ thread: { id: 't', headId: '\uD800' } });
    await expect(head).rejects.toMatchObject({ code: 'not-found' });
  });

  it('reads branches whose rows are interleaved', async () => {
    // Appends to two branches alternately.
    await store.saveMessages({ messages: [message('root')] });
    const [left, right]: [string[], string[]] = [['root'], ['root']];
    for (let n = 0; n < 8; n++) {
      for (const [name_, branch] of [
        ['l', left],
        ['r', right],
      ] as const) {
        await store.saveMessages({ messages: [message(`${name_}${n}`, { parentId: branch.at(-1)! })] });
        branch.push(`${name_}${n}`);
      }
    }
    const ids = async (query: object): Promise<string[]> =>
      (await store.listMessages({ threadId, ...query })).map(({ id }) => id);
    expect(await ids({})).toEqual(right);
    expect(await ids({ leafId: 'l7' })).toEqual(left);
    for (const limit of [1, 2, 5, 8, 9, 20]) {
      expect(await ids({ leafId: 'l7', limit })).toEqual(left.slice(-limit));
      expect(await ids({ leafId: 'l7', limit, cursor: { before: 'l5' } })).toEqual(left.slice(0, 6).slice(-limit));
      expect(await ids({ leafId: 'l7', limit, cursor: { after: 'l2' } })).toEqual(left.slice(4).slice(0, limit));
    }
    await expect(store.listMessages({ threadId, leafId: 'l7', cursor: { before: 'r3' } })).rejects.toMatchObject({
      message: expect.stringMatching(/^cursor "r3"/),
    });
    await expect(store.listMessages({ threadId, leafId: 'gone', cursor: { before: 'l3' } })).rejects.toMatchObject({
      message: expect.stringMatching(/^leafId "gone"/),
    });
  });
});
