import type { AgentEvent } from '../../event/event.ts';
import type { Appended, LogBatch, LogPage, LogPosition, RunLog } from '../run-log.ts';
import { toLogText } from '../rules/log-text.ts';
import { dropLog } from './run-row.ts';
import type { LogRow, RunRow, Tables } from './tables.ts';

const beginning: LogPosition = { epoch: 0, seq: 0 };

/** Creates the run log, which keeps the events of each run as JSON text in its row. */
export function createInMemoryRunLog(tables: Tables): RunLog {
  return {
    async append(batches) {
      const processes = new Set<string>();
      const answers = batches.map((batch) => {
        const run = tables.runs.get(batch.run);
        const appended = append(run, batch);
        if (run?.live && (appended === 'ok' || appended === 'stop')) processes.add(run.live.process);
        return appended;
      });
      for (const process of processes) tables.hints.publish({ type: 'flushed', process });
      return answers;
    },

    async read(key, after, limit = 500) {
      const run = tables.runs.get(key);
      if (!run || run.logDropped) {
        return { events: [], position: { ...after }, tail: run ? run.nextSeq - 1 : 0, valid: false, dropped: true };
      }
      return readLog(run, after, limit);
    },

    async positions(keys) {
      const runs = keys.map((key) => tables.runs.get(key)).filter((run) => run !== undefined);
      return new Map(
        runs.map((run) => [
          run.key,
          {
            epoch: run.epoch,
            next: run.nextSeq,
            stop: run.live?.stopRequestedAt !== undefined,
            ...(run.live?.stopReason !== undefined && { stopReason: run.live.stopReason }),
            live: run.live !== undefined,
          },
        ]),
      );
    },

    // The registry's `finish` has already written the end of this log.
    close: () => Promise.resolve(),

    async drop(keys) {
      for (const key of keys) {
        const run = tables.runs.get(key);
        if (run?.endedAt !== undefined) dropLog(tables, run);
      }
    },
  };
}

function append(run: RunRow | undefined, { epoch, seq, events }: LogBatch): Appended {
  if (!run?.live) return 'ended';
  if (epoch < run.epoch) return 'fenced';
  if (epoch > run.epoch || seq > run.nextSeq) return 'regressed';
  if (seq === run.nextSeq) {
    appendEvents(run, events);
    return run.live.stopRequestedAt === undefined ? 'ok' : 'stop';
  }
  // Either all of it is in the log, or another writer has used these numbers and owns the log now.
  return run.nextSeq >= seq + events.length ? 'applied' : 'fenced';
}

export function appendEvents(run: RunRow, events: readonly AgentEvent[]): void {
  if (events.length === 0) return;
  const body = toLogText(events);
  run.nextSeq += events.length;
  run.log.push({ lastSeq: run.nextSeq - 1, n: events.length, epoch: run.epoch, body });
}

function readLog(run: RunRow, after: LogPosition, limit: number): LogPage {
  const tail = run.nextSeq - 1;
  let index = after.seq === 0 ? 0 : findRowIndex(run.log, after.seq);
  if (after.seq !== 0 && run.log[index]?.epoch !== after.epoch) {
    return { events: [], position: beginning, tail, valid: false, dropped: false };
  }
  const events: AgentEvent[] = [];
  let position: LogPosition = { ...after };
  for (; index < run.log.length && events.length < limit; index++) {
    const row = run.log[index]!;
    if (events.length > 0 && row.epoch !== position.epoch) break;
    const skipped = Math.max(0, position.seq - (row.lastSeq - row.n));
    if (skipped >= row.n) continue;
    const given = (JSON.parse(row.body) as AgentEvent[]).slice(skipped, skipped + limit - events.length);
    events.push(...given);
    position = { epoch: row.epoch, seq: row.lastSeq - row.n + skipped + given.length };
  }
  return { events, position, tail, valid: true, dropped: false };
}

/** Finds the row that holds event `seq` by binary search, because readers at the tail of a long log read often. */
function findRowIndex(log: readonly LogRow[], seq: number): number {
  let low = 0;
  let high = log.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (log[middle]!.lastSeq < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
