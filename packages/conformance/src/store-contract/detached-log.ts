import type { AgentEvent, Store } from '@intertie/core';
import { createRunWatcher, followRun, recoverRun, type Followed } from '@intertie/core/internal';
import type { LogPosition, RunKey } from '@intertie/core/store';
import { describe, expect, it, onTestFinished } from 'vitest';

import type { Contract, DetachedLogSetup } from './contract.ts';
import { deltas, ending, finish, start, getStatus } from './samples.ts';

const threadId = 'thread_1';
const aborted = { outcome: 'aborted', by: 'user' } as const;

/** Tests for a process that crashes after ending a run and before closing its log. */
export function detachedLogTests(contract: Contract, { openWithUnclosedLog }: DetachedLogSetup): void {
  const openUnclosed = async (): Promise<Store> => {
    const store = await openWithUnclosedLog();
    onTestFinished(() => store.close());
    return store;
  };

  describe('a detached log that is not closed', () => {
    it('delivers the end of the run once to current, new and reconnecting readers', async () => {
      const store = await openUnclosed();
      const { run, epoch } = await start(store, '1');
      await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('Hel', 'lo') }]);
      const current = read(store, run.key);
      const resumed = read(store, run.key, { epoch, seq: 1 });
      await finishAndCrash(store, run.key, epoch, 3);
      const end = { type: 'run-end', ...aborted };
      expect(await current).toMatchObject([...deltas('Hel', 'lo'), end]);
      expect(await resumed).toMatchObject([...deltas('lo'), end]);
      expect(await read(store, run.key)).toMatchObject([...deltas('Hel', 'lo'), end]);
      expect(await read(store, run.key, { epoch, seq: 2 })).toMatchObject([end]);
    });

    it('ends the run and its message and frees the thread', async () => {
      const store = await openUnclosed();
      const { run, epoch } = await start(store, '1');
      await finishAndCrash(store, run.key, epoch, 1);
      expect(await store.registry.getRun(store.scope, run.key)).toMatchObject({ state: 'aborted', lastSeq: 1 });
      expect(await getStatus(store, 'a_1')).toBe('aborted');
      expect((await store.log.positions([run.key])).get(run.key)).toMatchObject({ live: false, next: 2 });
      await store.registry.retire('p1');
      expect(await store.registry.takeOver('p2')).toEqual([]);
      await start(store, '2');
    });

    it('drops the log like any other', async (context) => {
      const clock = contract.clock(context);
      const store = await openUnclosed();
      const { run, epoch } = await start(store, '1');
      await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('a') }]);
      await finishAndCrash(store, run.key, epoch, 2);
      await clock.advance(10);
      expect(await store.registry.listPrunable(0)).toEqual([run.key]);
      await store.log.drop([run.key]);
      expect((await store.log.read(run.key, { epoch: 0, seq: 0 })).dropped).toBe(true);
      expect(await store.log.append([{ run: run.key, epoch, seq: 2, events: deltas('late') }])).toEqual(['ended']);
    });
  });

  describe('a detached log', () => {
    it('closes the log at the end of the run, and preserves its events at a takeover', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      await store.log.append([
        {
          run: run.key,
          epoch,
          seq: 1,
          events: [
            { type: 'run-start', runId: 'run_1', threadId, messageId: 'a_1' },
            { type: 'text-start', id: 'p1' },
          ],
        },
      ]);
      await store.log.append([{ run: run.key, epoch, seq: 3, events: deltas('Hel', 'lo') }]);
      await store.registry.retire('p1');
      const [taken] = await store.registry.takeOver('p2');
      expect(taken).toMatchObject({ epoch: 2, nextSeq: 5 });
      expect(await store.log.append([{ run: run.key, epoch, seq: 5, events: deltas('zombie') }])).toEqual(['fenced']);
      expect(await recoverRun(store, taken!)).toMatchObject({ result: 'ok' });
      const events = await read(store, run.key);
      expect(events.slice(2, 4)).toEqual(deltas('Hel', 'lo'));
      expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'error', error: { code: 'lost' } });
      expect((await store.log.read(run.key, { epoch: 2, seq: events.length })).tail).toBe(events.length);
      const message = await store.getMessage({ threadId, messageId: 'a_1' });
      expect(message?.content.parts).toMatchObject([{ type: 'text', text: 'Hello' }]);
    });

    it('orders a stale append racing a takeover before the takeover, or fences it', async () => {
      const store = await contract.open();
      await store.registry.heartbeat('p2');
      for (let round = 1; round <= 10; round++) {
        const ids = { threadId: `thread_${round}`, message: undefined };
        const { run, epoch } = await start(store, `${round}`, ids);
        await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('a') }]);
        await store.registry.retire('p1');
        const [late, [taken]] = await Promise.all([
          store.log.append([{ run: run.key, epoch, seq: 2, events: deltas('late') }]),
          store.registry.takeOver('p2'),
        ]);
        const kept = late[0] === 'ok' ? deltas('a', 'late') : deltas('a');
        expect(taken).toMatchObject({ epoch: 2, nextSeq: kept.length + 1 });
        expect((await store.log.read(run.key, { epoch: 0, seq: 0 })).events).toEqual(kept);
        await finish(store, taken!, ending({ nextSeq: taken!.nextSeq, outcome: aborted }));
      }
    });

    it('deletes the events of deleted threads', async () => {
      const store = await contract.open();
      const first = await start(store, '1');
      await store.log.append([{ run: first.run.key, epoch: 1, seq: 1, events: deltas('a') }]);
      await finish(store, first, ending({ nextSeq: 2 }));
      const second = await start(store, '2', { threadId: 'thread_2', message: undefined });
      await store.log.append([{ run: second.run.key, epoch: 1, seq: 1, events: deltas('b') }]);
      await store.deleteThread({ threadId });
      await store.purgeAll();
      const pages = await Promise.all([first, second].map(({ run }) => store.log.read(run.key, { epoch: 0, seq: 0 })));
      expect(pages).toMatchObject(pages.map(() => ({ events: [], dropped: true })));
    });
  });
}

/** Ends a run in a process that crashes before it closes the log. */
async function finishAndCrash(store: Store, run: RunKey, epoch: number, nextSeq: number): Promise<void> {
  store.registry.finish(run, epoch, ending({ nextSeq, outcome: aborted })).catch(() => undefined);
  await expect.poll(() => store.registry.liveRun(store.scope, { threadId })).toBeNull();
}

/** Reads every event that a reader receives, up to the end of its stream. */
async function read(store: Store, run: RunKey, after?: LogPosition): Promise<AgentEvent[]> {
  const watcher = createRunWatcher({ log: store.log, hints: store.hints, pollMs: { connected: 20, alone: 20 } });
  const followed = followRun({ store, watcher, scope: store.scope, run, ...(after && { after }) });
  const events: AgentEvent[] = [];
  try {
    for await (const item of followed as unknown as AsyncIterable<Followed>) {
      if (item.type === 'events') events.push(...item.events);
      else if (item.type === 'ended') events.push(item.event);
      else throw new Error(`Unexpected item for a reader: ${item.type}.`);
    }
  } finally {
    watcher.close();
  }
  return events;
}
