import { describe, expect, it } from 'vitest';

import { storeError, type Contract } from './contract.ts';
import { deltas, ending, finish, listBranchIds, message, paused, queue, start } from './samples.ts';

const threadId = 'thread_1';

export function changeTests(contract: Contract): void {
  describe('changes', () => {
    it('lists each message that changed after a version once, in its current state', async () => {
      const store = await contract.open();
      const { version } = await store.saveMessages({ messages: [message('m1'), message('m2')] });
      await store.saveMessages({ messages: [message('m1', { state: 1 })] });
      await store.saveMessages({ messages: [message('m3')] });
      await store.saveMessages({ messages: [message('m1', { state: 2 })] });
      const changes = await store.listChanges({ threadId, since: version });
      expect(changes).toMatchObject([
        { type: 'message', message: { id: 'm3' } },
        { type: 'message', message: { id: 'm1', state: 2 } },
      ]);
      expect(changes.at(-1)!.version).toBe(await store.getVersion({ threadId }));
      expect(await store.listChanges({ threadId, since: 0 })).toHaveLength(3);
    });

    it('never splits the changes of one version across pages', async () => {
      const store = await contract.open();
      await store.saveMessages({ messages: [message('m1')] });
      await store.saveMessages({ messages: [message('m2'), message('m3'), message('m4')] });
      await store.saveMessages({ messages: [message('m5')] });
      const seen: string[] = [];
      for (let since = 0; ;) {
        const page = await store.listChanges({ threadId, since, limit: 2 });
        if (page.length === 0) break;
        seen.push(...page.map((change) => (change.type === 'message' ? change.message.id : '')));
        since = page.at(-1)!.version;
      }
      expect(seen).toEqual(['m1', 'm2', 'm3', 'm4', 'm5']);
    });

    it('lists the messages of a run when it starts and when it ends', async () => {
      const store = await contract.open();
      const run = await start(store, '1');
      const version = await store.getVersion({ threadId });
      expect(await store.listChanges({ threadId, since: 0 })).toMatchObject([
        { message: { id: 'u_1' } },
        { message: { id: 'a_1', status: 'streaming' } },
      ]);
      await finish(store, run, ending());
      expect(await store.listChanges({ threadId, since: version })).toMatchObject([
        { message: { id: 'a_1', status: 'complete' } },
      ]);
    });

    it('deletes a message and its descendants, leaves tombstones, and moves the head to the parent', async () => {
      const store = await contract.open();
      await store.saveMessages({ messages: ['m1', 'm2', 'm3'].map((id) => message(id)) });
      await store.saveMessages({ messages: [message('m2b', { parentId: 'm1' })] });
      await store.saveThread({ thread: { id: threadId, headId: 'm3' } });
      const since = await store.getVersion({ threadId });
      await store.deleteMessage({ threadId, messageId: 'm2' });
      expect(await listBranchIds(store)).toEqual(['m1']);
      expect(await listBranchIds(store, 'm2b')).toEqual(['m1', 'm2b']);
      expect(await store.getMessage({ threadId, messageId: 'm3' })).toBeNull();
      const changes = await store.listChanges({ threadId, since });
      expect(changes.map((change) => change.type === 'tombstone' && change.messageId)).toEqual(['m2', 'm3']);
      await expect(store.saveMessages({ messages: [message('m3')] })).rejects.toMatchObject(storeError('not-found'));
      await expect(store.saveMessages({ messages: [message('m4', { parentId: 'm2' })] })).rejects.toMatchObject(
        storeError('not-found'),
      );
    });

    it('keeps the head when another branch is deleted', async () => {
      const store = await contract.open();
      await store.saveMessages({ messages: [message('m1'), message('m2')] });
      await store.saveMessages({ messages: [message('m2b', { parentId: 'm1' })] });
      await store.deleteMessage({ threadId, messageId: 'm2' });
      expect(await listBranchIds(store)).toEqual(['m1', 'm2b']);
    });

    it('deletes the first message and ignores missing messages', async () => {
      const store = await contract.open();
      await store.saveMessages({ messages: [message('m1'), message('m2')] });
      await store.deleteMessage({ threadId, messageId: 'm1' });
      await store.deleteMessage({ threadId, messageId: 'm1' });
      await store.deleteMessage({ threadId: 'nowhere', messageId: 'm1' });
      expect(await store.listMessages({ threadId })).toEqual([]);
      expect(await store.getThreadById({ threadId })).not.toHaveProperty('headId');
      await store.saveMessages({ messages: [message('m3')] });
      expect(await listBranchIds(store)).toEqual(['m3']);
    });

    it('ends the runs of deleted messages', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      const { run: queued } = await queue(store, '2');
      await store.deleteMessage({ threadId, messageId: 'u_1' });
      expect(await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('late') }])).toEqual(['ended']);
      expect(await store.registry.finish(run.key, epoch, ending())).toEqual({ result: 'fenced' });
      expect(await store.registry.liveRun(store.scope, { threadId })).toBeNull();
      expect(await store.registry.getRun(store.scope, queued.key)).toMatchObject({ state: 'aborted' });
      expect(await store.registry.promote(store.scope, threadId, 'p1')).toBeNull();
      expect((await store.log.read(run.key, { epoch: 0, seq: 0 })).dropped).toBe(true);
    });

    it('cancels the open decisions of deleted messages', async () => {
      const store = await contract.open();
      await paused(store, '1', 'q1');
      await store.deleteMessage({ threadId, messageId: 'a_1' });
      expect(await store.registry.listDecisions(store.scope, { state: 'open' })).toEqual([]);
    });
  });
}
