import type { Store } from '@intertie/core';
import { describe, expect, it } from 'vitest';

import { storeError, type Contract } from './contract.ts';
import { message } from './samples.ts';

const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const data = (): Uint8Array => new TextEncoder().encode('abc');

async function readText(store: Store, range?: { start: number; end?: number }): Promise<string | null> {
  const stream = await store.blobs.get(store.scope, abc, range);
  return stream && new Response(stream).text();
}

export function blobTests(contract: Contract): void {
  describe('blobs', () => {
    it('stores bytes under their hash', async () => {
      const store = await contract.open();
      const bytes = data();
      const info = await store.blobs.put(store.scope, { data: bytes, mediaType: 'text/plain' });
      bytes.fill(0);
      expect(info).toEqual({ sha256: abc, size: 3, mediaType: 'text/plain' });
      expect(await store.blobs.put(store.scope, { data: data() })).toEqual(info);
      expect(await store.blobs.info(store.scope, abc)).toEqual(info);
      expect(await readText(store)).toBe('abc');
      expect(await readText(store, { start: 1 })).toBe('bc');
      expect(await readText(store, { start: 0, end: 2 })).toBe('ab');
      expect(await readText(store, { start: 3 })).toBe('');
    });

    it('streams large blobs completely', async () => {
      const store = await contract.open();
      const large = Uint8Array.from({ length: 700_001 }, (_, index) => index % 251);
      const { sha256 } = await store.blobs.put(store.scope, { data: large });
      const read = new Uint8Array(await new Response(await store.blobs.get(store.scope, sha256)).arrayBuffer());
      expect(read.every((byte, index) => byte === large[index]) && read.length === large.length).toBe(true);
    });

    it('stores the URL of external bytes', async () => {
      const store = await contract.open();
      const info = { sha256: abc, size: 3, url: 'https://example.com/abc' };
      expect(await store.blobs.put(store.scope, info)).toEqual(info);
      expect(await readText(store)).toBeNull();
      await expect(store.blobs.put(store.scope, { ...info, sha256: 'ABC' })).rejects.toMatchObject(
        storeError('invalid'),
      );
    });

    it('hides the blobs of one scope from another', async () => {
      const store = await contract.open();
      await store.blobs.put(store.scope, { data: data() });
      const other = store.forScope('other');
      expect(await other.blobs.info(other.scope, abc)).toBeNull();
      expect(await readText(other)).toBeNull();
      expect(await other.blobs.touch(other.scope, abc)).toBe(false);
      expect(await other.blobs.addReference(other.scope, abc, { threadId: 'thread_1', messageId: 'm1' })).toBe(false);
    });

    it('collects blobs that are neither referenced nor recently touched', async (context) => {
      const clock = contract.clock(context);
      const store = await contract.open();
      const place = { threadId: 'thread_1', messageId: 'm1' };
      await store.saveMessages({ messages: [message('m1')] });
      await store.blobs.put(store.scope, { data: data() });
      await clock.advance(clock.leaseMs);
      await store.blobs.touch(store.scope, abc);
      expect(await store.blobs.collect(clock.leaseMs / 2)).toBe(0);
      await clock.advance(20);
      expect(await store.blobs.addReference(store.scope, abc, { ...place, messageId: 'm9' })).toBe(false);
      expect(await store.blobs.addReference(store.scope, abc, place)).toBe(true);
      expect(await store.blobs.collect(0)).toBe(0);
      await store.deleteMessage(place);
      expect(await store.blobs.collect(0)).toBe(1);
      expect(await store.blobs.info(store.scope, abc)).toBeNull();
    });
  });
}
