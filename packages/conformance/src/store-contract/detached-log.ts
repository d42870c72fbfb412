import type { AgentEvent, Store } from '@intertie/core';
import { createRunWatcher, followRun, recoverRun, type Followed } from '@intertie/core/internal';
import type { LogPosition, RunKey } from '@intertie/core/store';
import { describe, expect, it, onTestFinished } from 'vitest';

import type { Contract, LogElsewhere } from './contract.ts';
import { deltas, ending, finish, start, statusOf } from './samples.ts';

const threadId = 'thread_1';
const aborted = { outcome: 'aborted', by: 'user' } as const;

/** What holds where a process may die between the end of a run and the end of its log. */
export function detachedLogTests(contract: Contract, { openCut }: LogElsewhere): void {
  const cut = async (): Promise<Store> => {
    const store = await openCut();
    onTestFinished(() => store.close());
    return store;
  };

  describe('a log that is not closed', () => {
    it('gives its readers the end once: those who were there, those who come later, and those who come back', async () => {
      const store = await cut();
      const { run, epoch } = await start(store, '1');
      await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('Hel', 'lo') }]);
      const there = read(store, run.key);
      const back = read(store, run.key, { epoch, seq: 1 });
      await endAndDie(store, run.key, epoch, 3);
      const end = { type: 'run-end', ...aborted };
      expect(await there).toMatchObject([...deltas('Hel', 'lo'), end]);
      expect(await back).toMatchObject([...deltas('lo'), end]);
      expect(await read(store, run.key)).toMatchObject([...deltas('Hel', 'lo'), end]);
      expect(await read(store, run.key, { epoch, seq: 2 })).toMatchObject([end]);
    });

    it('does not keep the run: it has ended, its message is whole, and the thread is free', async () => {
      const store = await cut();
      const { run, epoch } = await start(store, '1');
      await endAndDie(store, run.key, epoch, 1);
      expect(await store.registry.getRun(store.scope, run.key)).toMatchObject({ state: 'aborted', lastSeq: 1 });
      expect(await statusOf(store, 'a_1')).toBe('aborted');
      expect((await store.log.positions([run.key])).get(run.key)).toMatchObject({ live: false, next: 2 });
      await store.registry.retire('p1');
      expect(await store.registry.takeOver('p2')).toEqual([]);
      await start(store, '2');
    });

    it('is dropped like any other', async (context) => {
      const clock = contract.clock(context);
      const store = await cut();
      const { run, epoch } = await start(store, '1');
      await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('a') }]);
      await endAndDie(store, run.key, epoch, 2);
      await clock.advance(10);
      expect(await store.registry.listPrunable(0)).toEqual([run.key]);
      await store.log.drop([run.key]);
      expect((await store.log.read(run.key, { epoch: 0, seq: 0 })).dropped).toBe(true);
      expect(await store.log.append([{ run: run.key, epoch, seq: 2, events: deltas('late') }])).toEqual(['ended']);
    });
  });

  describe('a log elsewhere', () => {
    it('is closed with the end of the run, and whoever takes over ends it with what is there', async () => {
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

    it('zombie append racing a takeover: it is in the log before the takeover, or not at all', async () => {
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

    it('holds nothing of what was deleted', async () => {
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

/** Begins to end a run in a process that does not live to see it. */
async function endAndDie(store: Store, run: RunKey, epoch: number, nextSeq: number): Promise<void> {
  store.registry.finish(run, epoch, ending({ nextSeq, outcome: aborted })).catch(() => undefined);
  await expect.poll(() => store.registry.liveRun(store.scope, { threadId })).toBeNull();
}

/** All that a reader is given, to the end of its stream. */
async function read(store: Store, run: RunKey, after?: LogPosition): Promise<AgentEvent[]> {
  const watcher = createRunWatcher({ log: store.log, hints: store.hints, pollMs: { connected: 20, alone: 20 } });
  const followed = followRun({ store, watcher, scope: store.scope, run, ...(after && { after }) });
  const events: AgentEvent[] = [];
  try {
    for await (const item of followed as unknown as AsyncIterable<Followed>) {
      if (item.type === 'events') events.push(...item.events);
      else if (item.type === 'ended') events.push(item.event);
      else throw new Error(`A reader got ${item.type}.`);
    }
  } finally {
    watcher.close();
  }
  return events;
}
