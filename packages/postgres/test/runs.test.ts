import type { Answer, AgentEvent } from '@intertie/core';
import { createSweeper } from '@intertie/core/internal';
import type { Appended, FinishRequest, Ownership } from '@intertie/core/store';
import { describe, expect, it, vi } from 'vitest';

import { getEvents, notice, openProcesses, readAll, readLog, start } from './processes.ts';

// The store contract tests one store; these tests use several processes.

const runEnd: AgentEvent = { type: 'run-end', outcome: 'complete' };
const ending = (rest: Partial<FinishRequest> = {}): FinishRequest => ({
  nextSeq: 1,
  events: [runEnd],
  outcome: { outcome: 'complete' },
  content: { format: 2, parts: [] },
  ...rest,
});
const question = { questionId: 'q1', kind: 'input' as const };
const pausing = (rest: Partial<FinishRequest> = {}): FinishRequest =>
  ending({
    outcome: { outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q1' }] },
    events: [],
    content: { format: 2, parts: [{ type: 'question', ...question }] },
    decisions: [{ id: 'q1', kind: 'input', question }],
    ...rest,
  });

describe.each(['PGlite', 'Postgres'] as const)('runs of several processes on %s', { timeout: 60_000 }, (on) => {
  it('orders a stale append racing a takeover before the takeover, or fences it', async () => {
    const [zombie, other] = await openProcesses(on, 2);
    for (let round = 0; round < (on === 'PGlite' ? 3 : 10); round++) {
      const { late, after, taken, log } = await race(zombie!, other!, round);
      const kept = late === 'ok' ? [notice('late')] : [];
      expect(log).toEqual([notice('before'), ...kept, runEnd]);
      expect({ after, ...taken }).toMatchObject({ after: 'fenced', epoch: 2, nextSeq: 2 + kept.length });
    }
  });

  it('stores one of two identical appends', async () => {
    const [one, two] = await openProcesses(on, 2);
    const { run, epoch } = await start(one!, 'r1');
    for (let seq = 1; seq <= 20; seq += 2) {
      const batch = { run: run.key, epoch, seq, events: [notice(`${seq}`), notice(`${seq + 1}`)] };
      const append = async (store: typeof one): Promise<Appended> => {
        for (;;) {
          const [verdict] = await store!.store.log.append([batch]);
          if (verdict !== 'locked') return verdict!;
        }
      };
      const verdicts = await Promise.all([append(one), append(two), append(one)]);
      expect(verdicts.toSorted()).toEqual(['applied', 'applied', 'ok']);
    }
    expect(await readLog(one!.store, run.key)).toEqual(Array.from({ length: 20 }, (_, n) => notice(`${n + 1}`)));
  });

  it('delivers each event once after a lost acknowledgement and a retry', async () => {
    const [one] = await openProcesses(on, 1);
    const { store, flusher } = one!;
    const started = await start(one!, 'r1');
    const append = store.log.append.bind(store.log);
    let n = 0;
    vi.spyOn(store.log, 'append').mockImplementation(async (batches) => {
      const verdicts = await append(batches);
      if (++n % 2 === 1) throw new Error('Connection lost');
      return verdicts;
    });
    const reading = readAll(one!.follow(started.run.key));
    const writer = flusher.open(started);
    for (let text = 1; text <= 5; text++) {
      writer.write(notice(`${text}`));
      await writer.barrier();
    }
    writer.write(runEnd);
    await writer.finish((rest) => store.registry.finish(started.run.key, 1, ending(rest)));
    const expected = [...['1', '2', '3', '4', '5'].map(notice), runEnd];
    expect(await readLog(store, started.run.key)).toEqual(expected);
    expect(getEvents(await reading)).toEqual(expected);
  });

  it('returns the result of a finish whose acknowledgement was lost', async () => {
    const [one] = await openProcesses(on, 1);
    const { store, flusher } = one!;
    const started = await start(one!, 'r1');
    const { key } = started.run;
    await store.registry.openDecisions(key, 1, [{ id: 'q1', kind: 'input', question }]);
    const continuation = { runId: 'r2', process: 'p1' };
    await store.registry.answer(store.scope, key, { answers: [{ questionId: 'q1', value: 1 }], continuation });
    let isLost = true;
    const result = await flusher.open(started).finish(async (rest) => {
      const answer = await store.registry.finish(key, 1, pausing({ ...rest, continuation }));
      if (!isLost) return answer;
      isLost = false;
      throw new Error('Connection lost');
    });
    expect(result).toMatchObject({ result: 'ok', continuation: { run: { runId: 'r2' }, epoch: 1, nextSeq: 1 } });
    expect(await store.registry.listRuns(store.scope, { threadId: 'thread_1' })).toHaveLength(2);
  });

  it('replays the same bytes that were delivered live, including the key order', async () => {
    const [one, two] = await openProcesses(on, 2);
    const { store, flusher } = one!;
    const started = await start(one!, 'r1');
    const states = [
      '{"z":1,"a":{"10":"x","9":"y","b":[null,1.5e300,-0.0]},"\\u0000":"\\ud800"}',
      '{"__proto__":{"x":1},"constructor":2,"":3,"é":"\\u2028"}',
      '"10.5"',
      '1152921504606846976',
      'null',
    ];
    const events = states.map((state): AgentEvent => ({ at: 1, state: JSON.parse(state), type: 'state-snapshot' }));
    const live = readAll(one!.follow(started.run.key));
    const elsewhere = readAll(two!.follow(started.run.key));
    const writer = flusher.open(started);
    for (const event of events) {
      writer.write(event);
      await writer.barrier();
    }
    writer.write(runEnd);
    await writer.finish((rest) => store.registry.finish(started.run.key, 1, ending(rest)));
    const bytes = JSON.stringify(getEvents(await live));
    expect(bytes).toBe(JSON.stringify([...events, runEnd]));
    expect(JSON.stringify(getEvents(await elsewhere))).toBe(bytes);
    expect(JSON.stringify(getEvents(await readAll(two!.follow(started.run.key))))).toBe(bytes);
  });

  it('resets a cursor of another epoch', async () => {
    const [one, two] = await openProcesses(on, 2);
    const { run } = await start(one!, 'r1');
    await one!.store.log.append([{ run: run.key, epoch: 1, seq: 1, events: [notice('1'), notice('2')] }]);
    await one!.store.registry.retire('p1');
    const sweeper = createSweeper({ store: two!.store, process: 'p2' });
    expect(await sweeper.sweep()).toMatchObject({ recovered: 1 });
    const all = getEvents(await readAll(two!.follow(run.key)));
    expect(all.at(-1)).toMatchObject({ type: 'run-end', error: { code: 'lost' } });
    for (const after of [
      { epoch: 1, seq: 3 },
      { epoch: 2, seq: 2 },
    ]) {
      const items = await readAll(two!.follow(run.key, after));
      expect(items[0]).toEqual({ type: 'reset' });
      expect(getEvents(items)).toEqual(all);
    }
    expect(getEvents(await readAll(two!.follow(run.key, { epoch: 1, seq: 1 })))).toEqual(all.slice(1));
  });

  it('creates one continuation for answers from two processes', async () => {
    const [one, two] = await openProcesses(on, 2);
    const { run } = await start(one!, 'r1');
    await one!.store.registry.finish(run.key, 1, pausing());
    const give = ({ store, name }: NonNullable<typeof one>, answer: Answer, n: number) =>
      store.registry.answer(store.scope, run.key, {
        answers: [answer],
        by: name,
        continuation: { runId: `r2_${n}`, process: name },
      });
    const value = { questionId: 'q1', value: 1 };
    const results = await Promise.all([0, 1, 2, 3].map((n) => give(n % 2 ? one! : two!, value, n)));
    const verdicts = results.map((result) => result!.verdicts[0]!.result);
    expect(verdicts.toSorted()).toEqual(['accepted', 'duplicate', 'duplicate', 'duplicate']);
    expect(new Set(results.map((result) => result!.continuation!.run.key)).size).toBe(1);
    expect(results.filter((result) => result!.continuation!.created)).toHaveLength(1);
    const other = await give(two!, { questionId: 'q1', value: 2 }, 9);
    expect(other!.verdicts).toMatchObject([{ result: 'conflict', answeredBy: expect.stringMatching(/p[12]/) }]);
  });

  it('notifies the owner of a stop request from another process', async () => {
    const [one, two] = await openProcesses(on, 2);
    const { run } = await start(one!, 'r1');
    const asked = new Promise<string | undefined>((resolve) => {
      one!.watcher.watch(run.key, (position) => position?.stop && resolve(position.stopReason));
    });
    expect(await two!.store.registry.stop(two!.store.scope, run.key, 'enough\0')).toBe('requested');
    expect(await asked).toBe('enough\uFFFD');
  });

  it('ends the waiting run of a dead process as lost and expires its question', async () => {
    const [one, two] = await openProcesses(on, 2);
    const { run, epoch } = await start(one!, 'r1');
    await one!.store.registry.openDecisions(run.key, epoch, [{ id: 'q1', kind: 'input', question }]);
    await one!.store.registry.setWaiting(run.key, epoch, true);
    const reading = readAll(two!.follow(run.key));
    await one!.store.registry.retire('p1');
    await createSweeper({ store: two!.store, process: 'p2' }).sweep();
    expect(getEvents(await reading).at(-1)).toMatchObject({ outcome: 'error', error: { code: 'lost' } });
    expect(await two!.store.registry.listDecisions(two!.store.scope)).toMatchObject([{ state: 'expired' }]);
  });

  it('starts a queued run once when several processes sweep', async () => {
    const [one, ...others] = await openProcesses(on, 4);
    const { run } = await start(one!, 'r1');
    const { store } = one!;
    const behind = { agent: 'helper', process: 'p1', busy: 'queue', pending: 'supersede' } as const;
    await store.registry.start(store.scope, { ...behind, threadId: 'thread_1', runId: 'r2', messageId: 'a_r2' });
    await store.registry.finish(run.key, 1, ending());
    const started: Ownership[] = [];
    const passes = await Promise.all(
      others.map(({ store: own, name }) =>
        createSweeper({ store: own, process: name, startRun: (owned) => started.push(owned) }).sweep(),
      ),
    );
    expect(passes.reduce((sum, { promoted }) => sum + promoted, 0)).toBe(1);
    expect(started).toMatchObject([{ run: { runId: 'r2', state: 'running' }, epoch: 1 }]);
  });

  it('delivers every event of 12 runs to all readers', async () => {
    const [one, two] = await openProcesses(on, 2);
    const count = 60;
    const runs = await Promise.all(
      Array.from({ length: 12 }, (_, n) => start(one!, `r${n}`, { threadId: `thread_${n}` })),
    );
    const reading = runs.flatMap(({ run }) => [readAll(one!.follow(run.key)), readAll(two!.follow(run.key))]);
    const many = Array.from({ length: 12 }, () => readAll(two!.follow(runs[0]!.run.key)));
    await Promise.all(
      runs.map(async (started) => {
        const writer = one!.flusher.open(started);
        for (let n = 0; n < count; n++) {
          writer.write(notice(`${n}`));
          if (n % 7 === 0) await writer.barrier();
        }
        writer.write(runEnd);
        const { store } = one!;
        await writer.finish((rest) => store.registry.finish(started.run.key, 1, ending(rest)));
      }),
    );
    const expected = [...Array.from({ length: count }, (_, n) => notice(`${n}`)), runEnd];
    for (const items of await Promise.all([...reading, ...many])) expect(getEvents(items)).toEqual(expected);
  });

  it('delivers every change of 12 writers to a reader', async () => {
    const [one, two] = await openProcesses(on, 2);
    const ids = Array.from({ length: 12 }, (_, writer) => Array.from({ length: 10 }, (__, n) => `m${writer}_${n}`));
    const base = { threadId: 'thread_1', role: 'user', type: 'text', createdAt: new Date(0) } as const;
    let isOver = false;
    const tail = (async () => {
      const seen: string[] = [];
      for (let since = 0, wasOver = false; ;) {
        const changes = await two!.store.listChanges({ threadId: 'thread_1', since, limit: 7 });
        for (const change of changes) if (change.type === 'message') seen.push(change.message.id);
        since = changes.at(-1)?.version ?? since;
        if (changes.length === 0 && wasOver) return seen;
        wasOver = isOver;
      }
    })();
    await Promise.all(
      ids.map(async (own, writer) => {
        const { store } = writer % 2 ? one! : two!;
        for (const id of own)
          await store.saveMessages({ messages: [{ ...base, id, content: { format: 2, parts: [] } }] });
      }),
    );
    isOver = true;
    expect((await tail).toSorted()).toEqual(ids.flat().toSorted());
  });
});

type Process = Awaited<ReturnType<typeof openProcesses>>[number];

/** Lets the previous owner append while another process takes its run over. */
async function race(zombie: Process, other: Process, round: number) {
  const { run, epoch } = await start(zombie, `r${round}`, { threadId: `thread_${round}` });
  const append = async (seq: number, text: string) =>
    (await zombie.store.log.append([{ run: run.key, epoch, seq, events: [notice(text)] }]))[0];
  await append(1, 'before');
  await zombie.store.registry.retire(zombie.name);
  const [late, [first]] = await Promise.all([append(2, 'late'), other.store.registry.takeOver(other.name)]);
  // The append may have locked the run during the first takeover.
  const taken = first ?? (await other.store.registry.takeOver(other.name))[0]!;
  const after = await append(taken.nextSeq, 'zombie');
  await other.store.registry.finish(run.key, taken.epoch, ending({ nextSeq: taken.nextSeq }));
  return { late, after, taken, log: await readLog(other.store, run.key) };
}
