import type { Store } from '@intertie/core';
import type { ListLatestRuns, StartRequest } from '@intertie/core/store';
import { describe, expect, it } from 'vitest';

import { answer, yes } from './answers.ts';
import { storeError, type Contract } from './contract.ts';
import { ending, finish, message, paused, queue, start } from './samples.ts';

async function list(store: Store, query?: ListLatestRuns): Promise<string[]> {
  const { runs } = await store.registry.listLatestRuns(store.scope, query);
  return runs.map(({ run, state }) => `${run.runId} ${state}`);
}

function inThread(name: string, threadId: string): Partial<StartRequest> {
  return { threadId, message: message(`u_${name}`, { threadId }) };
}

export function latestRunTests(contract: Contract): void {
  describe('latest runs', () => {
    it('finds the runs of a message without its thread', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1');
      const next = { runId: 'run_2', process: 'p1' };
      await answer(store, run.key, [yes('q1')], { continuation: next });
      await start(store, '3', inThread('3', 'thread_2'));
      const { registry, scope } = store;
      const find = async (messageId: string, threadId?: string): Promise<string[]> => {
        const runs = await registry.listRuns(scope, { messageId, ...(threadId !== undefined && { threadId }) });
        return runs.map(({ runId }) => runId);
      };
      expect(await find('a_1')).toEqual(['run_1', 'run_2']);
      expect(await find('a_3')).toEqual(['run_3']);
      expect(await find('a_3', 'thread_1')).toEqual([]);
      expect(await find('a_4')).toEqual([]);
      expect(await registry.listRuns(store.forScope('bob').scope, { messageId: 'a_1' })).toEqual([]);
    });

    it('lists the last run of each message with its state, the last changed first', async () => {
      const store = await contract.open();
      await finish(store, await start(store, '1'), ending());
      await paused(store, '2', 'q1');
      await start(store, '3', inThread('3', 'thread_2'));
      await queue(store, '4', inThread('4', 'thread_2'));
      const states = await list(store);
      expect(states.toSorted()).toEqual(['run_1 complete', 'run_2 waiting', 'run_3 running', 'run_4 queued']);
      const { runs, total } = await store.registry.listLatestRuns(store.scope);
      expect(total).toBe(4);
      const times = runs.map(({ changedAt }) => changedAt.getTime());
      expect(times).toEqual(times.toSorted((a, b) => b - a));
      expect(await store.registry.listLatestRuns(store.forScope('bob').scope)).toEqual({ runs: [], total: 0 });
    });

    it('lists the continuation instead of the paused run', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1');
      await answer(store, run.key, [yes('q1')], { continuation: { runId: 'run_2', process: 'p1' } });
      expect(await list(store)).toEqual(['run_2 running']);
    });

    it('lists a stopped paused run as paused, because no decision is open', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1');
      await store.registry.stop(store.scope, run.key);
      expect(await list(store)).toEqual(['run_1 paused']);
    });

    it('selects runs by thread, agent, state and time', async () => {
      const store = await contract.open();
      await finish(store, await start(store, '1'), ending());
      await start(store, '2', { agent: 'other' });
      await start(store, '3', inThread('3', 'thread_2'));
      expect(await list(store, { threadId: 'thread_2' })).toEqual(['run_3 running']);
      expect(await list(store, { agent: 'other' })).toEqual(['run_2 running']);
      expect(await list(store, { states: ['complete', 'waiting'] })).toEqual(['run_1 complete']);
      expect(await list(store, { since: new Date(Date.now() + 86_400_000 * 365 * 100) })).toEqual([]);
      expect(await list(store, { since: new Date(0) })).toHaveLength(3);
    });

    it('lists every run once on pages, with the number of all runs', async () => {
      const store = await contract.open();
      for (const name of ['1', '2', '3', '4', '5']) await start(store, name, inThread(name, `thread_${name}`));
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const query: ListLatestRuns = { limit: 2, ...(cursor !== undefined && { cursor }) };
        const page = await store.registry.listLatestRuns(store.scope, query);
        expect(page.total).toBe(5);
        found.push(...page.runs.map(({ run }) => run.runId));
        ({ cursor } = page);
      } while (cursor !== undefined);
      expect(found.toSorted()).toEqual(['run_1', 'run_2', 'run_3', 'run_4', 'run_5']);
      const invalid = store.registry.listLatestRuns(store.scope, { cursor: 'nonsense' });
      await expect(invalid).rejects.toMatchObject(storeError('invalid'));
    });
  });
}
