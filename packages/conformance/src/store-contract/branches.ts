import { describe, expect, it } from 'vitest';

import { storeError, type Contract } from './contract.ts';
import { finish, toIds, listBranchIds, message, start, ending } from './samples.ts';

const threadId = 'thread_1';

export function branchTests(contract: Contract): void {
  /** u1 - a1 - u2 - a2, with a second branch u2b - a2b after a1. */
  async function openTree() {
    const store = await contract.open();
    await store.saveMessages({ messages: ['u1', 'a1', 'u2', 'a2'].map((id) => message(id)) });
    await store.saveMessages({ messages: [message('u2b', { parentId: 'a1' }), message('a2b')] });
    return store;
  }

  describe('branches', () => {
    it('creates a sibling for a second message with the same parent and activates its branch', async () => {
      const store = await openTree();
      expect(await listBranchIds(store)).toEqual(['u1', 'a1', 'u2b', 'a2b']);
      expect(await listBranchIds(store, 'a2')).toEqual(['u1', 'a1', 'u2', 'a2']);
      expect(await listBranchIds(store, 'u2')).toEqual(['u1', 'a1', 'u2']);
      expect(toIds(await store.listSiblings({ threadId, messageId: 'u2b' }))).toEqual(['u2', 'u2b']);
      expect(toIds(await store.listSiblings({ threadId, messageId: 'u1' }))).toEqual(['u1']);
    });

    it('starts another branch at the root with `parentId: null`', async () => {
      const store = await openTree();
      const { messages } = await store.saveMessages({ messages: [message('v1', { parentId: null }), message('w1')] });
      expect(messages[0]).not.toHaveProperty('parentId');
      expect(await listBranchIds(store)).toEqual(['v1', 'w1']);
      expect(toIds(await store.listSiblings({ threadId, messageId: 'u1' }))).toEqual(['u1', 'v1']);
    });

    it('appends to the previous message of the call, including one that was already stored', async () => {
      const store = await openTree();
      await store.saveMessages({ messages: [message('u2'), message('a2c')] });
      expect(await listBranchIds(store)).toEqual(['u1', 'a1', 'u2', 'a2c']);
    });

    it('switches to another branch when its leaf becomes the head', async () => {
      const store = await openTree();
      await store.saveThread({ thread: { id: threadId, headId: 'a2' } });
      expect(await listBranchIds(store)).toEqual(['u1', 'a1', 'u2', 'a2']);
      await expect(store.saveThread({ thread: { id: threadId, headId: 'nowhere' } })).rejects.toMatchObject(
        storeError('not-found'),
      );
    });

    it('keeps the head when a message of another branch is saved again', async () => {
      const store = await openTree();
      await store.saveMessages({ messages: [message('a2', { state: { n: 1 } })] });
      expect((await store.getThreadById({ threadId }))?.headId).toBe('a2b');
    });

    it('keeps messages with the same id in two threads apart', async () => {
      const store = await openTree();
      await store.saveMessages({ messages: [message('u1', { threadId: 'thread_2', state: 2 })] });
      expect(await store.getMessage({ threadId, messageId: 'u1' })).not.toHaveProperty('state');
      await expect(
        store.saveMessages({ messages: [message('m', { threadId: 'thread_2', parentId: 'a1' })] }),
      ).rejects.toMatchObject(storeError('not-found'));
    });

    it('lists the last n messages, or those before or after a cursor, in either order', async () => {
      const store = await openTree();
      const list = async (query: object) => toIds(await store.listMessages({ threadId, leafId: 'a2', ...query }));
      expect(await list({ limit: 2 })).toEqual(['u2', 'a2']);
      expect(await list({ limit: 2, orderBy: 'desc' })).toEqual(['a2', 'u2']);
      expect(await list({ cursor: { before: 'a2' } })).toEqual(['u1', 'a1', 'u2']);
      expect(await list({ cursor: { before: 'a2' }, limit: 2 })).toEqual(['a1', 'u2']);
      expect(await list({ cursor: { before: 'u1' }, limit: 2 })).toEqual([]);
      expect(await list({ cursor: { after: 'u1' }, limit: 2 })).toEqual(['a1', 'u2']);
      expect(await list({ cursor: { after: 'u1' }, limit: 2, orderBy: 'desc' })).toEqual(['u2', 'a1']);
      expect(await list({ cursor: { after: 'a2' } })).toEqual([]);
      expect(await list({ limit: 9 })).toEqual(['u1', 'a1', 'u2', 'a2']);
    });

    it('rejects an unknown leaf, a cursor outside the branch, and an invalid limit', async () => {
      const store = await openTree();
      await expect(store.listMessages({ threadId, leafId: 'nowhere' })).rejects.toMatchObject(storeError('not-found'));
      await expect(store.listMessages({ threadId, cursor: { before: 'u2' } })).rejects.toMatchObject(
        storeError('not-found'),
      );
      await expect(store.listMessages({ threadId, cursor: { after: 'nowhere' } })).rejects.toMatchObject(
        storeError('not-found'),
      );
      await expect(store.listMessages({ threadId, limit: 0 })).rejects.toMatchObject(storeError('invalid'));
    });

    it('assigns a new id to an edited AI SDK message that reuses its id, and keeps the sibling', async () => {
      const store = await contract.open();
      await finish(store, await start(store, '1'), ending());
      const edited = await start(store, '2', { message: message('u_1', { state: 'edited' }), parentId: null });
      const answer = await store.getMessage({ threadId, messageId: edited.run.messageId });
      const siblings = await store.listSiblings({ threadId, messageId: 'u_1' });
      expect(siblings).toMatchObject([{ id: 'u_1' }, { id: answer?.parentId, clientId: 'u_1', state: 'edited' }]);
      expect(siblings[0]).not.toHaveProperty('clientId');
      expect(siblings[1]!.id).not.toBe('u_1');
      expect(await listBranchIds(store, 'a_1')).toEqual(['u_1', 'a_1']);
    });
  });
}
