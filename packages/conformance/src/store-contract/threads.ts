import type { Json } from '@intertie/core';
import type { ListThreads } from '@intertie/core/store';
import { describe, expect, it } from 'vitest';

import { storeError, type Contract } from './contract.ts';
import { answer, yes } from './answers.ts';
import { deltas, ending, finish, message, pausing, request, start } from './samples.ts';

const threadId = 'thread_1';

export function threadTests(contract: Contract): void {
  describe('threads', () => {
    it('creates a thread, then changes only the given fields', async () => {
      const store = await contract.open();
      const createdAt = new Date('2020-01-01T00:00:00Z');
      const thread = { id: threadId, resourceId: 'ada', title: 'Trip', metadata: { a: { b: '\0' } }, createdAt };
      const created = await store.saveThread({ thread });
      expect(created).toMatchObject(thread);
      expect(created).not.toHaveProperty('headId');
      const version = await store.getVersion({ threadId });
      expect(version).toBeGreaterThan(0);
      expect(created.version).toBe(version);
      await store.saveThread({ thread: { id: threadId, title: 'Trip to Rome', createdAt: new Date() } });
      expect(await store.getThreadById({ threadId })).toMatchObject({ ...thread, title: 'Trip to Rome' });
      const changed = await store.getVersion({ threadId });
      expect(changed).toBeGreaterThan(version);
      expect((await store.listThreads()).threads).toMatchObject([{ id: threadId, version: changed }]);
    });

    it.each([
      ['a NUL', 'a\0b'],
      ['a lone surrogate', 'a\uD800'],
    ])('rejects a title and a resource with %s', async (_, text) => {
      const store = await contract.open();
      for (const thread of [
        { id: threadId, title: text },
        { id: threadId, resourceId: text },
      ]) {
        await expect(store.saveThread({ thread })).rejects.toMatchObject(storeError('invalid'));
      }
      expect(await store.getThreadById({ threadId })).toBeNull();
    });

    it('accepts a title in any script, of any length, or an empty one', async () => {
      const store = await contract.open();
      for (const title of ['🧵 \uDBFF\uDFFF'.repeat(200), '']) {
        expect(await store.saveThread({ thread: { id: threadId, title } })).toMatchObject({ title });
      }
    });

    it('copies the metadata on read', async () => {
      const store = await contract.open();
      const { metadata } = await store.saveThread({ thread: { id: threadId, metadata: { list: [1] } } });
      (metadata!['list'] as Json[]).push(2);
      expect((await store.getThreadById({ threadId }))?.metadata).toEqual({ list: [1] });
    });

    it('leaves a hidden thread out of lists until it is shown', async () => {
      const store = await contract.open();
      await start(store, '1', { thread: { hidden: true } });
      expect(await store.getThreadById({ threadId })).toMatchObject({ hidden: true });
      expect((await store.listThreads()).threads).toEqual([]);
      await store.saveThread({ thread: { id: threadId, title: 'Trip' } });
      expect((await store.listThreads()).threads).toEqual([]);
      expect(await store.saveThread({ thread: { id: threadId, hidden: false } })).not.toHaveProperty('hidden');
      expect((await store.listThreads()).threads).toMatchObject([{ id: threadId }]);
    });

    it('keeps an existing thread visible if a run asks for a hidden one', async () => {
      const store = await contract.open();
      await store.saveThread({ thread: { id: threadId } });
      await start(store, '1', { thread: { hidden: true } });
      expect((await store.listThreads()).threads).toMatchObject([{ id: threadId }]);
    });

    it('deletes hidden threads with their logs once their runs have ended', async () => {
      const store = await contract.open();
      const none = { count: 0, runs: [] };
      const { key } = (await start(store, '0', { threadId: 'visible', message: undefined })).run;
      const started = await start(store, '1', { thread: { hidden: true } });
      // A negative age also selects threads that have just changed.
      expect(await store.registry.deleteHidden(-60_000)).toEqual(none);
      await finish(store, started, ending());
      expect(await store.registry.deleteHidden(3_600_000)).toEqual(none);
      expect(await store.registry.deleteHidden(-60_000)).toEqual({ count: 1, runs: [started.run.key] });
      expect(await store.getThreadById({ threadId })).toBeNull();
      expect((await store.log.read(started.run.key, { epoch: 0, seq: 0 })).dropped).toBe(true);
      expect(await store.registry.getRun(store.scope, key)).toMatchObject({ state: 'running' });
    });

    it('lists each thread once across all pages', async () => {
      const store = await contract.open();
      const ids = ['t1', 't2', 't3', 't4', 't5'];
      for (const id of ids) await store.saveThread({ thread: { id } });
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.listThreads({ limit: 2, ...(cursor !== undefined && { cursor }) });
        seen.push(...page.threads.map(({ id }) => id));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(seen.toSorted()).toEqual(ids);
      expect((await store.listThreads({ limit: 5 })).cursor).toBeUndefined();
      await expect(store.listThreads({ limit: -1 })).rejects.toMatchObject(storeError('invalid'));
    });

    it('lists the most recently changed thread first', async (context) => {
      const clock = contract.clock(context);
      const store = await contract.open();
      for (const id of ['t1', 't2', 't3']) {
        await store.saveThread({ thread: { id } });
        await clock.advance(5);
      }
      await store.saveMessages({ messages: [message('m1', { threadId: 't1' })] });
      expect((await store.listThreads()).threads.map(({ id }) => id)).toEqual(['t1', 't3', 't2']);
    });

    it('finds threads by resource and by words of the title', async () => {
      const store = await contract.open();
      await store.saveThread({ thread: { id: 't1', resourceId: 'ada', title: 'A Trip to Rome' } });
      await store.saveThread({ thread: { id: 't2', resourceId: 'bob', title: 'Rome, 100% of it' } });
      await store.saveThread({ thread: { id: 't3', resourceId: 'ada' } });
      const find = async (query: object) => (await store.listThreads(query)).threads.map(({ id }) => id).toSorted();
      expect(await find({ resourceId: 'ada' })).toEqual(['t1', 't3']);
      expect(await find({ search: 'rome' })).toEqual(['t1', 't2']);
      expect(await find({ search: 'ROME trip' })).toEqual(['t1']);
      expect(await find({ search: '0%' })).toEqual(['t2']);
      expect(await find({ search: '_' })).toEqual([]);
    });

    it('marks a thread whose head is paused, until the next message or answer', async () => {
      const store = await contract.open();
      const list = async (query: ListThreads = {}) =>
        (await store.listThreads(query)).threads.map(({ id, paused: isPaused }) => [id, isPaused]);
      const waiting = await start(store, '1');
      expect(await list()).toEqual([[threadId, undefined]]);
      await finish(store, waiting, ending({ outcome: { outcome: 'paused', waitingFor: [{ type: 'message' }] } }));
      expect(await list()).toEqual([[threadId, true]]);
      const next = await start(store, '2');
      expect(await list()).toEqual([[threadId, undefined]]);
      await finish(store, next, pausing(['q1']));
      expect(await list()).toEqual([[threadId, true]]);
      await answer(store, next.run.key, [yes('q1')]);
      expect(await list()).toEqual([[threadId, undefined]]);
      await store.saveThread({ thread: { id: threadId, headId: 'a_1' } });
      expect(await list()).toEqual([[threadId, true]]);
      await store.deleteMessage({ threadId, messageId: 'a_1' });
      expect(await list()).toEqual([[threadId, undefined]]);
    });

    it('pages through the threads whose head is paused', async () => {
      const store = await contract.open();
      for (const [name, id] of Object.entries({ 1: 't1', 2: 't2', 3: 't3' })) {
        const started = await start(store, name, { threadId: id, message: message(`u_${name}`, { threadId: id }) });
        await finish(store, started, pausing([`q${name}`]));
        await store.saveThread({ thread: { id: `${id}_empty` } });
      }
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.listThreads({ paused: true, limit: 1, ...(cursor !== undefined && { cursor }) });
        expect(page.threads).toHaveLength(1);
        ids.push(...page.threads.map(({ id }) => id));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(ids.toSorted()).toEqual(['t1', 't2', 't3']);
    });

    it('deletes a thread with everything it owns and frees its id', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1', { idempotency: { key: 'k', hash: 'h' } });
      await store.deleteThread({ threadId });
      await store.deleteThread({ threadId });
      expect(await store.getThreadById({ threadId })).toBeNull();
      expect(await store.listMessages({ threadId })).toEqual([]);
      expect(await store.registry.getRun(store.scope, run.key)).toBeNull();
      expect(await store.registry.listRuns(store.scope, { threadId })).toEqual([]);
      expect(await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('late') }])).toEqual(['ended']);
      expect(await store.log.positions([run.key])).toEqual(new Map());
      expect(await store.registry.finish(run.key, epoch, ending())).toEqual({ result: 'fenced' });
      const again = await store.registry.start(store.scope, request('1', { idempotency: { key: 'k', hash: 'h' } }));
      expect(again.type).toBe('started');
    });
  });
}
