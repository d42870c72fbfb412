import { readBlobUrl, toBlobUrl, type CanonicalMessage, type MessagePart } from '@intertie/core';
import type { FilePart } from '@intertie/core/internal';
import type { MessageInput, Started } from '@intertie/core/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { databases, emptyTables } from '../../test/databases.ts';
import type { Database } from '../database.ts';
import { PostgresMemoryStore } from '../postgres-store.ts';
import { hashBytes } from './blobs.ts';

const large = Buffer.alloc(40_000, 'large');
const url = toBlobUrl(hashBytes(large));

function message(id: string, ...parts: Array<MessagePart | { type: 'file'; data: Uint8Array }>): MessageInput {
  const content = { format: 2 as const, parts };
  return { id, threadId: 't1', role: 'user', type: 'text', createdAt: new Date(0), content };
}

const image = (bytes: Uint8Array): FilePart => ({
  type: 'file',
  mimeType: 'image/png',
  data: Buffer.from(bytes).toString('base64'),
});

/** A minimum age that every blob satisfies. */
const anyAge = -60_000;

describe.each(databases)('blobs, $name', ({ open }) => {
  let database: Database;
  let store: PostgresMemoryStore;
  beforeAll(async () => {
    database = await open();
    store = PostgresMemoryStore.on(database, { maxBlobBytes: 1_000_000 });
  }, 60_000);
  beforeEach(() => emptyTables(database));
  afterAll(() => store.close());

  const getParts = (saved: CanonicalMessage | null | undefined): MessagePart[] | undefined => saved?.content.parts;

  it('moves files of more than 32 kB into blobs, including those inside interjections', async () => {
    const inner = { type: 'interjection' as const, role: 'user' as const, parts: [image(large)] };
    const parts = [image(large), image(large.subarray(0, 32_768)), inner];
    const { messages } = await store.saveMessages({ messages: [message('m1', ...parts)] });
    const moved = { type: 'file', mimeType: 'image/png', url };
    expect(getParts(messages[0])).toEqual([moved, parts[1], { ...inner, parts: [moved] }]);
    expect(await store.listMessages({ threadId: 't1' })).toEqual(messages);
    expect(await store.blobs.info(store.scope, readBlobUrl(url)!)).toEqual({
      sha256: readBlobUrl(url),
      size: large.length,
      mediaType: 'image/png',
    });
    const bytes = await new Response(await store.blobs.get(store.scope, readBlobUrl(url)!)).arrayBuffer();
    expect(Buffer.from(bytes).equals(large)).toBe(true);
  });

  it('keeps blobs while a message refers to them', async () => {
    const { version } = await store.saveMessages({ messages: [message('m1', { type: 'file', data: large })] });
    const again = await store.saveMessages({ messages: [message('m1', { type: 'file', data: large })] });
    expect(again.version).toBe(version);
    await store.saveMessages({ messages: [message('m2', { type: 'file', url })] });
    await store.deleteMessage({ threadId: 't1', messageId: 'm2' });
    expect(await store.blobs.collect(anyAge)).toBe(0);
    await store.deleteThread({ threadId: 't1' });
    expect(await store.blobs.collect(anyAge)).toBe(1);
  });

  it('references the blobs of messages that runs save', async () => {
    await store.registry.heartbeat('p1');
    const request = { threadId: 't1', runId: 'r1', agent: 'a', process: 'p1', messageId: 'a1' };
    const started = (await store.registry.start(store.scope, {
      ...request,
      message: message('m1', image(large)),
      busy: 'reject',
      pending: 'supersede',
    })) as Started;
    expect(getParts(await store.getMessage({ threadId: 't1', messageId: 'm1' }))).toMatchObject([{ url }]);
    const drawn = Buffer.alloc(50_000, 'drawn');
    const finished = await store.registry.finish(started.run.key, started.epoch, {
      nextSeq: 1,
      events: [{ type: 'run-end', outcome: 'complete' }],
      outcome: { outcome: 'complete' },
      content: { format: 2, parts: [image(drawn)] },
    });
    expect(finished).toMatchObject({ message: { content: { parts: [{ url: toBlobUrl(hashBytes(drawn)) }] } } });
    expect(await store.blobs.collect(anyAge)).toBe(0);
    await store.deleteMessage({ threadId: 't1', messageId: 'a1' });
    expect(await store.blobs.collect(anyAge)).toBe(1);
  });

  it('saves a message that refers to a blob of another scope', async () => {
    const foreign = { type: 'file' as const, url };
    await store.forScope('other').blobs.put(store.forScope('other').scope, { data: large });
    await store.saveMessages({ messages: [message('m1', foreign)] });
    expect(getParts(await store.getMessage({ threadId: 't1', messageId: 'm1' }))).toEqual([foreign]);
    expect(await store.blobs.info(store.scope, readBlobUrl(url)!)).toBeNull();
  });

  it('rejects files above the size limit', async () => {
    const tooLarge = store.blobs.put(store.scope, { data: new Uint8Array(1_000_001) });
    await expect(tooLarge).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('its URL') });
  });

  it('reads ranges like `slice`', async () => {
    const { sha256 } = await store.blobs.put(store.scope, { data: large });
    const ranges = [{ start: -5 }, { start: 10, end: -10 }, { start: 20, end: 10 }, { start: 39_990, end: 99_999 }];
    for (const range of ranges) {
      const bytes = await new Response(await store.blobs.get(store.scope, sha256, range)).arrayBuffer();
      expect(Buffer.from(bytes).equals(large.subarray(range.start, range.end))).toBe(true);
    }
    expect(await store.blobs.get(store.scope, 'no hash')).toBeNull();
  });

  it('collects at most the given number of blobs', async () => {
    for (const byte of [1, 2, 3]) await store.blobs.put(store.scope, { data: new Uint8Array([byte]) });
    expect(await store.blobs.collect(anyAge, 2)).toBe(2);
    expect(await store.blobs.collect(anyAge, 2)).toBe(1);
  });

  it('keeps a blob that is referenced while it is collected', async () => {
    for (let round = 0; round < 20; round++) {
      const data = Buffer.alloc(33_000, `round ${round}`);
      const { sha256 } = await store.blobs.put(store.scope, { data });
      await database.query(`update intertie.blobs set touched_at = touched_at - interval '2 days'`);
      const dayMs = 24 * 60 * 60 * 1000;
      // One save refers to the blob, two send its bytes again. The blob must exist at the end in any order.
      const saves = [0, 1, 2].map((n) => {
        const file = n === 0 ? { type: 'file' as const, url: toBlobUrl(sha256) } : { type: 'file' as const, data };
        return store.saveMessages({ messages: [message(`m${round}-${n}`, file)] });
      });
      await Promise.all([store.blobs.collect(dayMs), ...saves, store.blobs.collect(dayMs)]);
      expect(await store.blobs.info(store.scope, sha256)).not.toBeNull();
    }
  });
});
