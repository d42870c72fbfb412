import type { DetachedAppended, DetachedLog, LogBatch, LogPosition, RunKey } from '@intertie/core/store';
import { pause } from '@intertie/core/internal';
import type { NatsConnection } from '@nats-io/transport-node';

import { createDroppedPage, createInvalidPage, createPage } from './create-page.ts';
import { emptyHead, encodeEntry, isPiece, toHead, type EntryFields, type Head, type StoredEntry } from './entry.ts';
import { createRecentMap } from './recent-map.ts';
import { createRunStreams, type RunStreamOptions, type RunStreams } from './run-streams.ts';

export type JetStreamLogOptions = RunStreamOptions & {
  /** Called if some runs of a flush could not be written while others were; they are retried. */
  onError?: (error: unknown) => void;
};

/** A `DetachedLog` on JetStream. */
export interface JetStreamLog extends DetachedLog {
  /** Creates the streams, or checks existing ones. The first operation does it too; call it to fail at the start. */
  open(): Promise<void>;
}

type Known = Head & { learnedAt: number; isWritten: boolean };
/** Sequence up to which the messages of a run contain only events before `next`. */
type ReadMark = { at: number; next: number };

const maxAttempts = 10;
const retryMs = 25;
/** Maximum number of runs whose position is remembered, and of positions requested at once. */
const maxRemembered = 50_000;
const maxRequests = 256;
/** Time for which the position that this process wrote last is not requested again. */
const ownMs = 1_000;
/** Time for which a reply older than the known position is not accepted: a leader that was stopped may answer before it steps down. */
const staleMs = 30_000;

/**
 * Stores the log on NATS JetStream: one subject per run, one message per batch. Each write names the sequence of the last message of
 * its subject, and JetStream refuses it if another one is stored. This orders writers, fences earlier epochs, and makes retries safe.
 */
export function createJetStreamLog(connection: NatsConnection, options: JetStreamLogOptions = {}): JetStreamLog {
  const { onError = () => {}, ...streamOptions } = options;
  return createLog(createRunStreams(connection, streamOptions), onError);
}

/** Creates the log on messages of any source, for tests. */
export function createLog(streams: RunStreams, onError: (error: unknown) => void): JetStreamLog {
  const heads = createRecentMap<RunKey, Known>(maxRemembered);
  const marks = createRecentMap<RunKey, ReadMark>(maxRemembered);

  const remember = (run: RunKey, head: Head): void => {
    const known = heads.get(run);
    if (known && known.at > head.at) return;
    const isWritten = known?.at === head.at && known.isWritten;
    heads.set(run, { ...head, learnedAt: performance.now(), isWritten });
  };

  const load = async (run: RunKey): Promise<Head> => {
    const last = await streams.loadLast(run);
    return last ? toHead(last) : emptyHead;
  };

  /** Loads the head, and rejects if the reply is older than a position that this process has already seen. */
  const loadFresh = async (run: RunKey): Promise<{ head: Head; last: StoredEntry | null }> => {
    const known = heads.get(run);
    for (let attempt = 1; ; attempt++) {
      const last = await streams.loadLast(run);
      const head = last ? toHead(last) : emptyHead;
      const isStale = known !== undefined && head.at < known.at && performance.now() - known.learnedAt < staleMs;
      if (!isStale) {
        if (last) remember(run, head);
        return { head, last };
      }
      if (attempt === maxAttempts) throw new Error(`NATS JetStream answers with an old state of the run ${run}.`);
      await pause(retryMs * attempt);
    }
  };

  /** Writes an entry after `head`. Null if another entry was written since, so that the head has to be loaded again. */
  const write = async (run: RunKey, head: Head, fields: Omit<EntryFields, 'before'>): Promise<Head | null> => {
    const entry = { ...fields, before: head.last };
    let after: number | null = head.at;
    for (const message of encodeEntry(entry, streams.maxPayload())) {
      after = await streams.publish(run, message, after);
      if (after === null) return null;
    }
    const written = toHead({ ...entry, n: fields.events.length, at: after, events: [] });
    // A confirmed write is newer than everything known, even if the stream was restored from a backup.
    heads.set(run, { ...written, learnedAt: performance.now(), isWritten: true });
    return written;
  };

  /** Writes the entry that `decide` returns for the current head, until no other write comes in between. */
  const update = async <Result>(
    run: RunKey,
    first: Head | undefined,
    decide: (head: Head) => { entry: Omit<EntryFields, 'before'>; result: Result } | { result: Result },
  ): Promise<Result> => {
    let head = first ?? (await load(run));
    for (let attempt = 1; ; attempt++) {
      const decision = decide(head);
      if (!('entry' in decision)) return decision.result;
      if (await write(run, head, decision.entry)) return decision.result;
      if (attempt === maxAttempts) throw new Error(`The log of the run ${run} changes too often to write it.`);
      if (attempt > 1) await pause(retryMs * attempt);
      head = await load(run);
    }
  };

  /**
   * Loads the head for a reader that has the events up to `seq`. If they are missing, the reply may be old: a marker that JetStream
   * accepts after this head proves that they are not in the log.
   */
  const loadFor = async (run: RunKey, seq: number): ReturnType<typeof loadFresh> => {
    for (let attempt = 1; ; attempt++) {
      const found = await loadFresh(run);
      const { head } = found;
      if (head.end || seq < head.next) return found;
      if (await write(run, head, { epoch: head.epoch, seq: head.next, events: [] })) return found;
      if (attempt === maxAttempts) throw new Error(`NATS JetStream answers with an old state of the run ${run}.`);
      await pause(retryMs * attempt);
    }
  };

  const append = async (batch: LogBatch): Promise<DetachedAppended> => {
    const { run, epoch, seq, events } = batch;
    const known = heads.get(run) ?? (seq === 1 ? emptyHead : undefined);
    const verdict = await update<DetachedAppended>(run, known, (head) => {
      const result = judge(head, batch);
      // A missing event may be an old reply. A marker that JetStream accepts after this head proves that it is missing.
      if (result === 'regressed') return { result, entry: { epoch, seq: head.next, events: [] } };
      return result === 'ok' ? { result, entry: { epoch, seq, events } } : { result };
    });
    if (verdict === 'fenced' || verdict === 'ended') heads.delete(run);
    return verdict;
  };

  const getPosition = async (run: RunKey): Promise<Head> => {
    const known = heads.get(run);
    if (known?.isWritten && performance.now() - known.learnedAt < ownMs) return known;
    return (await loadFresh(run)).head;
  };

  /** Finds the sequence to read from: no later than the first message with an event after `seq`. Bisects a log that is new here. */
  const findStart = async (run: RunKey, seq: number, head: Head): Promise<number> => {
    const mark = marks.get(run);
    let low = mark && mark.next <= seq + 1 ? mark.at + 1 : 1;
    if (seq === 0 || low > 1) return low;
    const first = await streams.loadNext(run, low);
    low = first?.at ?? low;
    for (let high = head.at; high - low > maxRequests;) {
      const middle = Math.floor((low + high) / 2);
      const entry = await streams.loadNext(run, middle);
      if (entry && !isPiece(entry) && entry.seq + entry.n <= seq + 1) low = entry.at + 1;
      else high = middle;
    }
    return low;
  };

  const readEntries = async (run: RunKey, after: LogPosition, limit: number, head: Head): Promise<StoredEntry[]> => {
    let from = await findStart(run, after.seq, head);
    const entries: StoredEntry[] = [];
    for (let events = 0; events < limit && from <= head.at;) {
      const page = await streams.loadFrom(run, from);
      if (page.length === 0) throw new Error(`NATS JetStream answers with an old state of the run ${run}.`);
      for (const entry of page) {
        entries.push(entry);
        from = entry.at + 1;
        events += Math.max(0, entry.seq + entry.n - Math.max(entry.seq, after.seq + 1));
      }
    }
    return entries;
  };

  return {
    open: () => streams.open(),

    async append(batches) {
      const settled = await Promise.allSettled(batches.map(append));
      const errors = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
      if (errors.length > 0 && errors.length === batches.length) throw errors[0];
      if (errors.length > 0) onError(errors[0]);
      return settled.map((each) => (each.status === 'fulfilled' ? each.value : 'locked'));
    },

    own(run, epoch) {
      return update<number | 'fenced' | 'ended'>(run, undefined, (head) => {
        if (head.end) return { result: 'ended' };
        if (epoch < head.epoch) return { result: 'fenced' };
        return { result: head.next, entry: { epoch, seq: head.next, events: [] } };
      });
    },

    async read(run, after, limit) {
      const { head, last } = await loadFor(run, after.seq);
      if (!last) return null;
      const tail = head.next - 1;
      if (head.end === 'dropped') return createDroppedPage(after, tail);
      if (after.seq > tail) return createInvalidPage(tail);
      if (after.seq === tail) return createPage([], after, limit, head);
      const isNext = last.seq === after.seq + 1 && last.part === undefined;
      const entries = isNext ? [last] : await readEntries(run, after, limit, head);
      const page = createPage(entries, after, limit, head);
      const end = entries.findLast(({ seq, n }) => n > 0 && seq + n - 1 <= page.position.seq);
      if (page.valid && end) marks.set(run, { at: end.at, next: end.seq + end.n });
      return page;
    },

    async positions(runs) {
      const found = new Map<RunKey, { next: number; ended: boolean }>();
      for (let n = 0; n < runs.length; n += maxRequests) {
        const look = async (run: RunKey): Promise<void> => {
          const { at, next, end } = await getPosition(run);
          if (at > 0) found.set(run, { next, ended: end !== undefined });
        };
        await Promise.all(runs.slice(n, n + maxRequests).map(look));
      }
      return found;
    },

    async close({ run, epoch, seq, events }) {
      await update<void>(run, heads.get(run), (head) => {
        if (head.end) return { result: undefined };
        const isNext = head.next === seq;
        const entry = { epoch: Math.max(epoch, head.epoch), seq: head.next, events: isNext ? events : [] };
        return { result: undefined, entry: { ...entry, end: 'closed' } };
      });
      heads.delete(run);
    },

    async drop(runs, { erase = false } = {}) {
      const [tombstone] = encodeEntry({ epoch: 0, seq: 1, before: 0, events: [], end: 'dropped' }, Infinity);
      await streams.publishLast(runs, tombstone!, erase);
      for (const run of runs) {
        heads.delete(run);
        marks.delete(run);
      }
    },
  };
}

/**
 * Decides on a batch. All results but `ok` and `regressed` follow from an entry that exists, so an old head gives them correctly. A
 * log without events may have a reader's marker of epoch 0.
 */
function judge(head: Head, { epoch, seq, events }: LogBatch): DetachedAppended {
  if (head.end) return 'ended';
  if (epoch < head.epoch) return 'fenced';
  if (seq > head.next || (epoch > head.epoch && head.epoch > 0)) return 'regressed';
  if (seq === head.next) return 'ok';
  return head.next >= seq + events.length ? 'applied' : 'fenced';
}
