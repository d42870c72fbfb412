import type { Json } from '@intertie/core';
import { describe, expect, it } from 'vitest';

import type { Contract } from './contract.ts';
import { deltas, toIds, message, paused, start } from './samples.ts';

const threadId = 'thread_1';

export function scopeTests(contract: Contract): void {
  describe('scopes', () => {
    it('isolates threads with the same id in two scopes', async () => {
      const ada = await contract.open();
      const bob = ada.forScope('bob');
      await ada.saveMessages({ messages: [message('m1')] });
      await bob.saveMessages({ messages: [message('m2'), message('m3')] });
      expect(toIds(await ada.listMessages({ threadId }))).toEqual(['m1']);
      expect(toIds(await bob.listMessages({ threadId }))).toEqual(['m2', 'm3']);
      expect(bob.scope).toBe('bob');
      expect((await bob.listThreads()).threads).toHaveLength(1);
      await bob.deleteThread({ threadId });
      expect(toIds(await ada.forScope(ada.scope).listMessages({ threadId }))).toEqual(['m1']);
    });

    it.each([
      ['an empty scope', ''],
      ['a scope of more than 256 bytes', 'ä'.repeat(129)],
      ['a scope with a NUL', 'a\0b'],
      ['a scope with a lone surrogate', 'a\uD800'],
    ])('rejects %s', async (_, scope) => {
      const store = await contract.open();
      expect(() => store.forScope(scope)).toThrow(RangeError);
    });

    it('treats the run of another scope as missing', async () => {
      const ada = await contract.open();
      const bob = ada.forScope('bob');
      const { run } = await paused(ada, '1', 'q1');
      const answer = { answers: [{ questionId: 'q1', approved: true }], continuation: { runId: 'r', process: 'p1' } };
      expect(await bob.registry.getRun(bob.scope, run.key)).toBeNull();
      expect(await bob.registry.answer(bob.scope, run.key, answer)).toBeNull();
      expect(await bob.registry.stop(bob.scope, run.key)).toBeNull();
      expect(await bob.registry.findRun(bob.scope, { runId: 'run_1' })).toBeNull();
      expect(await bob.registry.listRuns(bob.scope, { threadId })).toEqual([]);
      expect(await bob.registry.listDecisions(bob.scope)).toEqual([]);
      expect(await ada.registry.listDecisions(ada.scope, { state: 'open' })).toHaveLength(1);
    });

    it('allows the same run ids and idempotency keys in each scope', async () => {
      const ada = await contract.open();
      const bob = ada.forScope('bob');
      const idempotency = { key: 'k', hash: 'h' };
      const [first, second] = [await start(ada, '1', { idempotency }), await start(bob, '1', { idempotency })];
      expect(first.run.key).not.toBe(second.run.key);
      expect(await bob.registry.findRun(bob.scope, { runId: 'run_1' })).toEqual(second.run);
    });

    it('exports exactly what the scope owns', async () => {
      const ada = await contract.open();
      const bob = ada.forScope('bob');
      await bob.saveMessages({ messages: [message('of bob')] });
      const { run, epoch } = await start(ada, '1');
      await ada.log.append([{ run: run.key, epoch, seq: 1, events: deltas('logged') }]);
      await ada.blobs.put(ada.scope, { data: new TextEncoder().encode('blob') });
      const exported: Json[] = [];
      for await (const value of ada.exportAll()) exported.push(value);
      const text = JSON.stringify(exported);
      for (const part of ['thread_1', 'u_1', 'a_1', 'run_1', 'logged', 'YmxvYg==']) expect(text).toContain(part);
      expect(text).not.toContain('of bob');
    });

    it('purges exactly what the scope owns', async () => {
      const ada = await contract.open();
      const bob = ada.forScope('bob');
      await bob.saveMessages({ messages: [message('m1')] });
      const { run } = await start(ada, '1');
      const { sha256 } = await ada.blobs.put(ada.scope, { data: new Uint8Array([1]) });
      await ada.purgeAll();
      expect((await ada.listThreads()).threads).toEqual([]);
      expect(await ada.registry.getRun(ada.scope, run.key)).toBeNull();
      expect(await ada.blobs.info(ada.scope, sha256)).toBeNull();
      expect(await bob.listMessages({ threadId })).toHaveLength(1);
      for await (const value of ada.exportAll()) expect(value).toBe('nothing');
    });
  });
}
