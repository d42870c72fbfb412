import type { AgentEvent } from '../src/index.ts';
import {
  toLogText,
  type DetachedAppended,
  type DetachedLog,
  type LogBatch,
  type LogPosition,
  type RunKey,
} from '../src/store.ts';

type Row = { last: number; n: number; epoch: number; body: string };
type Log = { epoch: number; next: number; rows: Row[]; isClosed: boolean; isDropped: boolean };

const beginning: LogPosition = { epoch: 0, seq: 0 };

/** Minimal detached log in memory: it knows nothing but its own calls. */
export function createMapLog(): DetachedLog {
  const logs = new Map<RunKey, Log>();
  const open = (run: RunKey, epoch: number): Log => {
    const log: Log = logs.get(run) ?? { epoch, next: 1, rows: [], isClosed: false, isDropped: false };
    logs.set(run, log);
    return log;
  };
  const isEnded = (log: Log): boolean => log.isClosed || log.isDropped;
  const write = (log: Log, { epoch, seq, events }: LogBatch): void => {
    if (events.length === 0) return;
    log.next = seq + events.length;
    log.rows.push({ last: log.next - 1, n: events.length, epoch, body: toLogText(events) });
  };
  const append = (batch: LogBatch): DetachedAppended => {
    const { run, epoch, seq, events } = batch;
    if (!logs.has(run) && seq > 1) return 'regressed';
    const log = open(run, epoch);
    if (isEnded(log)) return 'ended';
    if (epoch < log.epoch) return 'fenced';
    if (epoch > log.epoch || seq > log.next) return 'regressed';
    if (seq < log.next) return log.next >= seq + events.length ? 'applied' : 'fenced';
    write(log, batch);
    return 'ok';
  };

  return {
    append: async (batches) => batches.map(append),
    async own(run, epoch) {
      const log = open(run, epoch);
      if (isEnded(log)) return 'ended';
      if (epoch < log.epoch) return 'fenced';
      log.epoch = epoch;
      return log.next;
    },
    async read(run, after, limit) {
      const log = logs.get(run);
      if (!log) return null;
      const tail = log.next - 1;
      if (log.isDropped) return { events: [], position: { ...after }, tail, valid: false, dropped: true };
      const rows = log.rows.filter(({ last }) => last >= after.seq);
      if (after.seq !== 0 && rows[0]?.epoch !== after.epoch) {
        return { events: [], position: beginning, tail, valid: false, dropped: false };
      }
      const events: AgentEvent[] = [];
      let position = { ...after };
      for (const { last, n, epoch, body } of rows) {
        const skipped = Math.max(0, position.seq - (last - n));
        if (skipped >= n || events.length >= limit) continue;
        if (events.length > 0 && epoch !== position.epoch) break;
        const given = (JSON.parse(body) as AgentEvent[]).slice(skipped, skipped + limit - events.length);
        events.push(...given);
        position = { epoch, seq: last - n + skipped + given.length };
      }
      return { events, position, tail, valid: true, dropped: false };
    },
    async positions(runs) {
      const known = runs.flatMap((run) => {
        const log = logs.get(run);
        return log ? [[run, { next: log.next, ended: isEnded(log) }] as const] : [];
      });
      return new Map(known);
    },
    async close(last) {
      const log = open(last.run, last.epoch);
      if (!isEnded(log) && log.next === last.seq) write(log, last);
      log.isClosed = true;
    },
    async drop(runs) {
      for (const run of runs) Object.assign(open(run, 0), { rows: [], isDropped: true });
    },
  };
}
