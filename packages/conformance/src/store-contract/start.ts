import type { RunKey, StartRequest } from '@intertie/core/store';
import { describe, expect, it } from 'vitest';

import { storeError, type Contract } from './contract.ts';
import {
  approval,
  content,
  ending,
  finish,
  listBranchIds,
  message,
  paused,
  queue,
  request,
  start,
  getStatus,
} from './samples.ts';

const threadId = 'thread_1';

function requestWithoutMessage(name: string, rest: Partial<StartRequest>): StartRequest {
  const result = request(name, rest);
  delete result.message;
  return result;
}

export function startTests(contract: Contract): void {
  describe('starting a run', () => {
    it('finds runs by their branch key, newest first, in the scope and of the agent', async () => {
      const store = await contract.open();
      const branchKey = 'key';
      const find = (agent: string, limit?: number) =>
        store.registry.listBranchRuns(store.scope, { agent, branchKey, ...(limit !== undefined && { limit }) });
      const first = await start(store, '1', { branchKey });
      await start(store, '2', { threadId: 't2', message: message('u_2', { threadId: 't2' }), branchKey });
      await start(store, '3', { threadId: 't3', message: message('u_3', { threadId: 't3' }) });
      const queued = await store.registry.start(store.scope, request('4', { branchKey, busy: 'queue' }));
      expect(queued.type).toBe('queued');
      expect((await find('helper')).map(({ runId }) => runId)).toEqual(['run_4', 'run_2', 'run_1']);
      expect((await find('helper', 2)).map(({ runId }) => runId)).toEqual(['run_4', 'run_2']);
      expect((await find('helper')).at(-1)).toMatchObject({ key: first.run.key, threadId: 'thread_1' });
      expect(await find('writer')).toEqual([]);
      const other = store.forScope('another');
      expect(await other.registry.listBranchRuns(other.scope, { agent: 'helper', branchKey })).toEqual([]);
    });

    it('records which runs were queued, also after they have started or were stopped', async () => {
      const store = await contract.open();
      const wasQueued = async (key: RunKey) => (await store.registry.getRun(store.scope, key))?.wasQueued;
      const first = await start(store, '1');
      const [second, third] = [await queue(store, '2'), await queue(store, '3', { parentId: null })];
      expect([first.run.wasQueued, second.run.wasQueued]).toEqual([undefined, true]);
      await store.registry.stop(store.scope, third.run.key);
      await finish(store, first, ending());
      expect(await store.registry.promote(store.scope, threadId, 'p1')).toMatchObject({ run: { wasQueued: true } });
      const keys = [first.run.key, second.run.key, third.run.key];
      expect(await Promise.all(keys.map(wasQueued))).toEqual([undefined, true, true]);
    });

    it('saves the message and an empty answer, and returns the ownership', async () => {
      const store = await contract.open();
      const { run, epoch, nextSeq, superseded } = await start(store, '1', {
        resourceId: 'ada',
        input: { model: 'x' },
        createdBy: 'ada',
      });
      expect({ epoch, nextSeq, superseded }).toEqual({ epoch: 1, nextSeq: 1, superseded: [] });
      expect(run).toMatchObject({
        runId: 'run_1',
        threadId,
        messageId: 'a_1',
        agent: 'helper',
        state: 'running',
        process: 'p1',
        input: { model: 'x' },
        createdBy: 'ada',
      });
      expect(run.startedAt).toBeInstanceOf(Date);
      expect(await store.listMessages({ threadId })).toMatchObject([
        { id: 'u_1', role: 'user', status: 'complete' },
        { id: 'a_1', role: 'assistant', status: 'streaming', parentId: 'u_1', runId: 'run_1', content: content() },
      ]);
      expect(await store.getThreadById({ threadId })).toMatchObject({ resourceId: 'ada', headId: 'a_1' });
      expect(await store.registry.liveRun(store.scope, { threadId })).toEqual(run);
      expect(await store.registry.findRun(store.scope, { runId: 'run_1', threadId })).toEqual(run);
      expect(await store.registry.listRuns(store.scope, { threadId })).toEqual([run]);
    });

    it('sets the title and metadata of a new thread and keeps those of an existing one', async () => {
      const store = await contract.open();
      const thread = { title: 'Hello', metadata: { agent: 'helper' } };
      const first = await start(store, '1', { thread });
      expect(first.messages).toEqual(await store.listMessages({ threadId }));
      expect(first.isNewThread).toBe(true);
      expect(await store.getThreadById({ threadId })).toMatchObject(thread);
      await finish(store, first, ending());
      const second = await start(store, '2', { thread: { title: 'Other', metadata: { other: true } } });
      expect(second.messages).toBeUndefined();
      expect(second.isNewThread).toBeUndefined();
      expect(await store.getThreadById({ threadId })).toMatchObject(thread);
      await store.saveMessages({ messages: [message('m', { threadId: 'bare' })] });
      await start(store, '3', { threadId: 'bare', message: message('u_3', { threadId: 'bare' }), thread });
      expect(await store.getThreadById({ threadId: 'bare' })).not.toHaveProperty('title');
      // Without a message the start takes the general path, which must give the same result.
      const bare = requestWithoutMessage('4', { threadId: 'new', thread });
      expect(await store.registry.start(store.scope, bare)).toMatchObject({
        messages: [{ id: 'a_4', status: 'streaming' }],
      });
      expect(await store.getThreadById({ threadId: 'new' })).toMatchObject(thread);
    });

    it('returns the newest messages of the branch with the start, or leaves them out', async () => {
      const store = await contract.open();
      await finish(store, await start(store, '1'), ending());
      await finish(store, await start(store, '2', { historyLimit: 3 }), ending());
      for (const [name, rest] of Object.entries({
        '3': { parentId: 'a_1', historyLimit: 3 },
        '4': { parentId: 'a_2', historyLimit: 10 },
        '5': { parentId: 'a_4', historyLimit: 2 },
      })) {
        const started = await start(store, name, rest);
        const leafId = `a_${name}`;
        const expected = await store.listMessages({ threadId, leafId, limit: rest.historyLimit });
        expect(started.messages ?? expected).toEqual(expected);
        await finish(store, started, ending());
      }
    });

    it('creates a sibling of the first answer when a message is answered again', async () => {
      const store = await contract.open();
      await finish(store, await start(store, '1'), ending());
      const again = requestWithoutMessage('2', { parentId: 'u_1' });
      expect((await store.registry.start(store.scope, again)).type).toBe('started');
      expect(await listBranchIds(store)).toEqual(['u_1', 'a_2']);
      expect(await listBranchIds(store, 'a_1')).toEqual(['u_1', 'a_1']);
    });

    it('appends to the head, or to the parent if one is given', async () => {
      const store = await contract.open();
      await finish(store, await start(store, '1'), ending());
      await finish(store, await start(store, '2'), ending());
      expect(await listBranchIds(store)).toEqual(['u_1', 'a_1', 'u_2', 'a_2']);
      await start(store, '3', { parentId: 'a_1' });
      expect(await listBranchIds(store)).toEqual(['u_1', 'a_1', 'u_3', 'a_3']);
    });

    it('rejects an unknown parent and writes nothing', async () => {
      const store = await contract.open();
      expect(await store.registry.start(store.scope, request('1', { parentId: 'nowhere' }))).toEqual({
        type: 'refused',
        reason: 'not-found',
        what: 'parent',
      });
      expect(await store.getThreadById({ threadId })).toBeNull();
    });

    it('rejects a used run id and a used answer id', async () => {
      const store = await contract.open();
      const first = await start(store, '1');
      expect(await store.registry.start(store.scope, request('2', { runId: 'run_1' }))).toEqual({
        type: 'refused',
        reason: 'run-exists',
        run: first.run,
      });
      await finish(store, first, ending());
      await expect(store.registry.start(store.scope, request('2', { messageId: 'u_1' }))).rejects.toMatchObject(
        storeError('invalid'),
      );
      await start(store, '2', {
        threadId: 'thread_2',
        runId: 'run_1',
        message: message('u_1', { threadId: 'thread_2' }),
      });
      expect(await store.registry.findRun(store.scope, { runId: 'run_1' })).toMatchObject({ threadId: 'thread_2' });
    });

    it('attaches a request with the same idempotency key to its run, live or ended', async () => {
      const store = await contract.open();
      const idempotency = { key: 'k', hash: 'h' };
      const started = await start(store, '1', { idempotency });
      const repeat = request('other', { idempotency });
      expect(await store.registry.start(store.scope, repeat)).toEqual({ type: 'attached', run: started.run });
      await finish(store, started, ending());
      expect(await store.registry.start(store.scope, repeat)).toMatchObject({
        type: 'attached',
        run: { key: started.run.key, state: 'complete' },
      });
      expect(await listBranchIds(store)).toEqual(['u_1', 'a_1']);
    });

    it('starts one run for concurrent requests with the same key', async () => {
      const store = await contract.open();
      await store.registry.heartbeat('p1');
      const requests = ['1', '2', '3'].map((name) => request(name, { idempotency: { key: 'k', hash: 'h' } }));
      const results = await Promise.all(requests.map((each) => store.registry.start(store.scope, each)));
      expect(results.map(({ type }) => type).toSorted()).toEqual(['attached', 'attached', 'started']);
      expect(await store.registry.listRuns(store.scope, { threadId })).toHaveLength(1);
    });

    it('rejects a key that was used for another request', async () => {
      const store = await contract.open();
      const { run } = await start(store, '1', { idempotency: { key: 'k', hash: 'h' } });
      expect(
        await store.registry.start(store.scope, request('2', { idempotency: { key: 'k', hash: 'other' } })),
      ).toEqual({ type: 'refused', reason: 'key-reused', run });
      await store.saveMessages({ messages: [message('m', { threadId: 'thread_2' })], operationKey: 'save' });
      expect(
        await store.registry.start(store.scope, request('2', { idempotency: { key: 'save', hash: 'h' } })),
      ).toEqual({ type: 'refused', reason: 'key-reused', run: null });
    });

    it('allows one live run per thread across all branches', async () => {
      const store = await contract.open();
      const { run } = await start(store, '1');
      const results = await Promise.all(
        ['2', '3'].map((name) => store.registry.start(store.scope, request(name, { parentId: null }))),
      );
      for (const result of results) expect(result).toEqual({ type: 'refused', reason: 'busy', live: run });
      expect(await listBranchIds(store)).toEqual(['u_1', 'a_1']);
    });

    it('queues a run behind the live one and saves its messages', async () => {
      const store = await contract.open();
      const { run } = await start(store, '1');
      const queued = await queue(store, '2');
      expect(queued).toMatchObject({
        run: { state: 'queued', runId: 'run_2' },
        behind: { key: run.key },
        superseded: [],
      });
      expect(queued.takenOver).toBeUndefined();
      expect(await listBranchIds(store)).toEqual(['u_1', 'a_1', 'u_2', 'a_2']);
      expect(await getStatus(store, 'a_2')).toBe('streaming');
      expect((await store.log.positions([run.key])).get(run.key)).toMatchObject({ stop: false });
      expect((await store.log.positions([queued.run.key])).get(queued.run.key)).toMatchObject({ live: false });
    });

    it('requests a stop of the live run and queues the new one under the policy replace', async () => {
      const store = await contract.open();
      const { run } = await start(store, '1');
      await queue(store, '2', { busy: 'replace' });
      expect((await store.log.positions([run.key])).get(run.key)).toMatchObject({ live: true, stop: true });
    });

    it('queues at most eight runs', async () => {
      const store = await contract.open();
      const { run } = await start(store, '1');
      for (let n = 2; n <= 9; n++) await queue(store, String(n));
      for (const busy of ['queue', 'replace'] as const) {
        expect(await store.registry.start(store.scope, request('10', { busy }))).toMatchObject({
          type: 'refused',
          reason: 'queue-full',
          live: { key: run.key },
        });
      }
    });

    it('does not overtake queued runs', async () => {
      const store = await contract.open();
      const first = await start(store, '1');
      const { run } = await queue(store, '2');
      await finish(store, first, ending());
      expect(await store.registry.start(store.scope, request('3'))).toMatchObject({
        reason: 'busy',
        live: { key: run.key },
      });
      expect(await queue(store, '3')).toMatchObject({ behind: { key: run.key } });
    });

    it('supersedes open questions when a message is sent to a paused thread', async () => {
      const store = await contract.open();
      await paused(store, '1', 'q1', 'q2');
      const { superseded } = await start(store, '2');
      expect(superseded).toMatchObject([
        { id: 'q1', state: 'cancelled', messageId: 'a_1' },
        { id: 'q2', state: 'cancelled' },
      ]);
      const before = await store.getMessage({ threadId, messageId: 'a_1' });
      expect(before?.status).toBe('aborted');
      expect(before?.content.parts).toMatchObject([
        { state: 'call', approval: { answer: { cancelled: true } } },
        { state: 'call', approval: { answer: { cancelled: true } } },
      ]);
    });

    it('rejects a message to a paused thread under the policy reject and lists the open questions', async () => {
      const store = await contract.open();
      await paused(store, '1', 'q1');
      expect(await store.registry.start(store.scope, request('2', { pending: 'reject' }))).toMatchObject({
        type: 'refused',
        reason: 'pending',
        decisions: [{ ...approval('q1').decision, state: 'open' }],
      });
      expect(await listBranchIds(store)).toEqual(['u_1', 'a_1']);
    });

    it('finds open questions when the new message was saved before the start', async () => {
      const store = await contract.open();
      await paused(store, '1', 'q1');
      await store.saveMessages({ messages: [message('u_2')] });
      const rest = requestWithoutMessage('2', { pending: 'reject' });
      expect(await store.registry.start(store.scope, rest)).toMatchObject({ reason: 'pending' });
      expect(await store.registry.start(store.scope, { ...rest, pending: 'supersede' })).toMatchObject({
        type: 'started',
        superseded: [{ id: 'q1' }],
      });
    });

    it('leaves the questions of another branch open', async () => {
      const store = await contract.open();
      await paused(store, '1', 'q1');
      const { superseded } = await start(store, '2', { parentId: null, pending: 'reject' });
      expect(superseded).toEqual([]);
      expect(await getStatus(store, 'a_1')).toBe('paused');
      expect(await store.registry.listDecisions(store.scope, { state: 'open' })).toHaveLength(1);
    });

    it('rejects invalid ids and a message of another thread', async () => {
      const store = await contract.open();
      for (const wrong of [
        request('1', { threadId: '' }),
        request('1', { runId: 'a\0' }),
        request('1', { messageId: 'x'.repeat(257) }),
        request('1', { threadId: 'thread_2' }),
        request('1', { agent: 'a\0' }),
        request('1', { process: 'p\uD800' }),
        request('1', { createdBy: 'a\0' }),
        request('1', { resourceId: '\uDC00' }),
        request('1', { idempotency: { key: 'k\0', hash: 'h' } }),
        request('1', { idempotency: { key: 'k'.repeat(257), hash: 'h' } }),
        request('1', { idempotency: { key: 'k', hash: '\0' } }),
        request('1', { input: 1n as never }),
      ]) {
        await expect(store.registry.start(store.scope, wrong)).rejects.toMatchObject(storeError('invalid'));
      }
      expect((await store.listThreads()).threads).toEqual([]);
    });
  });
}
