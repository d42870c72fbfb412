import { describe, expect, it } from 'vitest';

import { refusal, type Contract } from './contract.ts';
import { finish, idsOf, idsOfBranch, message, start, ending } from './samples.ts';

const threadId = 'thread_1';

export function branchTests(contract: Contract): void {
  /** u1 - a1 - u2 - a2, and u2b - a2b beside u2. */
  async function openTree() {
    const store = await contract.open();
    await store.saveMessages({ messages: ['u1', 'a1', 'u2', 'a2'].map((id) => message(id)) });
    await store.saveMessages({ messages: [message('u2b', { parentId: 'a1' }), message('a2b')] });
    return store;
  }

  describe('branches', () => {
    it('makes a sibling of a message with the same parent, and that branch the active one', async () => {
      const store = await openTree();
      expect(await idsOfBranch(store)).toEqual(['u1', 'a1', 'u2b', 'a2b']);
      expect(await idsOfBranch(store, 'a2')).toEqual(['u1', 'a1', 'u2', 'a2']);
      expect(await idsOfBranch(store, 'u2')).toEqual(['u1', 'a1', 'u2']);
      expect(idsOf(await store.listSiblings({ threadId, messageId: 'u2b' }))).toEqual(['u2', 'u2b']);
      expect(idsOf(await store.listSiblings({ threadId, messageId: 'u1' }))).toEqual(['u1']);
    });

    it('begins another branch at the root with `parentId: null`', async () => {
      const store = await openTree();
      const { messages } = await store.saveMessages({ messages: [message('v1', { parentId: null }), message('w1')] });
      expect(messages[0]).not.toHaveProperty('parentId');
      expect(await idsOfBranch(store)).toEqual(['v1', 'w1']);
      expect(idsOf(await store.listSiblings({ threadId, messageId: 'u1' }))).toEqual(['u1', 'v1']);
    });

    it('follows the message before it in the call, also one that was there', async () => {
      const store = await openTree();
      await store.saveMessages({ messages: [message('u2'), message('a2c')] });
      expect(await idsOfBranch(store)).toEqual(['u1', 'a1', 'u2', 'a2c']);
    });

    it('goes to another branch when its leaf is made the head', async () => {
      const store = await openTree();
      await store.saveThread({ thread: { id: threadId, headId: 'a2' } });
      expect(await idsOfBranch(store)).toEqual(['u1', 'a1', 'u2', 'a2']);
      await expect(store.saveThread({ thread: { id: threadId, headId: 'nowhere' } })).rejects.toMatchObject(
        refusal('not-found'),
      );
    });

    it('does not move the head when a message of another branch is saved again', async () => {
      const store = await openTree();
      await store.saveMessages({ messages: [message('a2', { state: { n: 1 } })] });
      expect((await store.getThreadById({ threadId }))?.headId).toBe('a2b');
    });

    it('duplicate id across threads: each is a message of its own', async () => {
      const store = await openTree();
      await store.saveMessages({ messages: [message('u1', { threadId: 'thread_2', state: 2 })] });
      expect(await store.getMessage({ threadId, messageId: 'u1' })).not.toHaveProperty('state');
      await expect(
        store.saveMessages({ messages: [message('m', { threadId: 'thread_2', parentId: 'a1' })] }),
      ).rejects.toMatchObject(refusal('not-found'));
    });

    it('gives the last n, or those before or after a message, in either order', async () => {
      const store = await openTree();
      const list = async (query: object) => idsOf(await store.listMessages({ threadId, leafId: 'a2', ...query }));
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

    it('refuses a leaf or a cursor that is not of the branch, and a limit that is none', async () => {
      const store = await openTree();
      await expect(store.listMessages({ threadId, leafId: 'nowhere' })).rejects.toMatchObject(refusal('not-found'));
      await expect(store.listMessages({ threadId, cursor: { before: 'u2' } })).rejects.toMatchObject(
        refusal('not-found'),
      );
      await expect(store.listMessages({ threadId, cursor: { after: 'nowhere' } })).rejects.toMatchObject(
        refusal('not-found'),
      );
      await expect(store.listMessages({ threadId, limit: 0 })).rejects.toMatchObject(refusal('invalid'));
    });

    it('AI SDK edit with the same id: the sibling stays, and a user message that is sent again with its id gets another', async () => {
      const store = await contract.open();
      await finish(store, await start(store, '1'), ending());
      const edited = await start(store, '2', { message: message('u_1', { state: 'edited' }), parentId: null });
      const answer = await store.getMessage({ threadId, messageId: edited.run.messageId });
      const siblings = await store.listSiblings({ threadId, messageId: 'u_1' });
      expect(siblings).toMatchObject([{ id: 'u_1' }, { id: answer?.parentId, clientId: 'u_1', state: 'edited' }]);
      expect(siblings[0]).not.toHaveProperty('clientId');
      expect(siblings[1]!.id).not.toBe('u_1');
      expect(await idsOfBranch(store, 'a_1')).toEqual(['u_1', 'a_1']);
    });
  });
}
