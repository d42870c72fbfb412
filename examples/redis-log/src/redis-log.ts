import { createHash } from 'node:crypto';

import type { AgentEvent } from '@intertie/core';
import type { DetachedAppended, DetachedLog, LogBatch, LogPage, LogPosition, RunKey } from '@intertie/core/store';
import { toLogText } from '@intertie/core/store';

import * as scripts from './scripts.ts';

/** Client of `redis` or another package. It should pipeline concurrent commands. */
export type RedisClient = { sendCommand(command: string[]): Promise<unknown> };

export type RedisLogOptions = {
  /** Prefix of the keys. Default: `intertie`. */
  prefix?: string;
  /** Retention of a run after its last event, if it is not dropped before. Default: 7 days. */
  keepMs?: number;
  /**
   * Whether the runs are on several servers, so that each run needs its own call. Otherwise all runs of a flush are written in
   * one call, which the server syncs to disk once.
   */
  isCluster?: boolean;
};

type Entry = [id: string, fields: ['n', string, 'body', string]];

const beginning: LogPosition = { epoch: 0, seq: 0 };
/** Entries per page. A batch has at most 256 kB. */
const maxEntries = 64;

/**
 * Stores the log in Redis Streams. The server needs `appendonly yes` and `appendfsync always`: an append is then on disk before
 * the reply, as on Postgres.
 */
export function createRedisLog(client: RedisClient, options: RedisLogOptions = {}): DetachedLog {
  const { prefix = 'intertie', keepMs = 7 * 24 * 60 * 60 * 1000, isCluster = false } = options;
  // The part in braces determines the slot, so both keys of a run are in one.
  const hashKey = (run: RunKey): string => `${prefix}:{${run}}:at`;
  const streamKey = (run: RunKey): string => `${prefix}:{${run}}:log`;

  const evaluate = async (script: string, runs: readonly RunKey[], args: Array<string | number>): Promise<unknown> => {
    const keys = runs.flatMap((run) => [hashKey(run), streamKey(run)]);
    const rest = [String(keys.length), ...keys, String(keepMs), ...args.map(String)];
    try {
      return await client.sendCommand(['EVALSHA', sha1(script), ...rest]);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return client.sendCommand(['EVAL', script, ...rest]);
    }
  };

  const append = async (batches: readonly LogBatch[]): Promise<DetachedAppended[]> => {
    const verdicts = await evaluate(
      scripts.append,
      batches.map(({ run }) => run),
      batches.flatMap(({ epoch, seq, events }) => [epoch, seq, events.length, toLogText(events)]),
    );
    return verdicts as DetachedAppended[];
  };

  const look = async (run: RunKey): Promise<{ next: number; ended: string | null } | null> => {
    const found = await client.sendCommand(['HMGET', hashKey(run), 'next', 'ended']);
    const [next, ended] = found as Array<string | null>;
    if (next == null && ended == null) return null;
    return { next: Number(next ?? 1), ended: ended ?? null };
  };

  return {
    async append(batches) {
      if (!isCluster) return append(batches);
      return (await Promise.all(batches.map((batch) => append([batch])))).flat();
    },

    async own(run, epoch) {
      const next = await evaluate(scripts.own, [run], [epoch]);
      return next === 'fenced' || next === 'ended' ? next : Number(next);
    },

    async read(run, after, limit) {
      const from = after.seq === 0 ? '-' : `${after.epoch}-${after.seq}`;
      const count = String(Math.min(limit + 1, maxEntries));
      // In this order, so that the tail is never older than the entries.
      const [entries, at] = await Promise.all([
        client.sendCommand(['XRANGE', streamKey(run), from, '+', 'COUNT', count]),
        look(run),
      ]);
      if (!at) return null;
      const tail = at.next - 1;
      if (at.ended === 'dropped') return { events: [], position: { ...after }, tail, valid: false, dropped: true };
      return createPage(entries as Entry[], after, limit, tail);
    },

    async positions(runs) {
      const found = await Promise.all(runs.map(async (run) => [run, await look(run)] as const));
      return new Map(found.flatMap(([run, at]) => (at ? [[run, { next: at.next, ended: at.ended !== null }]] : [])));
    },

    async close({ run, epoch, seq, events }) {
      await evaluate(scripts.close, [run], [epoch, seq, events.length, toLogText(events)]);
    },

    async drop(runs) {
      await Promise.all(runs.map((run) => evaluate(scripts.drop, [run], [])));
    },
  };
}

/** Reads from the entry that contains `after`, which shows whether the position belongs to this log. */
function createPage(entries: readonly Entry[], after: LogPosition, limit: number, tail: number): LogPage {
  const rows = entries.map(([id, [, n, , body]]) => {
    const [epoch = 0, last = 0] = id.split('-').map(Number);
    return { epoch, last, before: last - Number(n), body };
  });
  const [first] = rows;
  const isHere = after.seq === 0 || (first?.epoch === after.epoch && first.before < after.seq);
  if (!isHere) return { events: [], position: beginning, tail, valid: false, dropped: false };
  const events: AgentEvent[] = [];
  let position: LogPosition = { ...after };
  for (const { epoch, last, before, body } of rows) {
    if (last <= position.seq) continue;
    if (events.length >= limit || (events.length > 0 && epoch !== position.epoch)) break;
    const skipped = Math.max(0, position.seq - before);
    const given = (JSON.parse(body) as AgentEvent[]).slice(skipped, skipped + limit - events.length);
    events.push(...given);
    position = { epoch, seq: before + skipped + given.length };
  }
  return { events, position, tail, valid: true, dropped: false };
}

const digests = new Map<string, string>();

function sha1(script: string): string {
  let digest = digests.get(script);
  if (digest === undefined) digests.set(script, (digest = createHash('sha1').update(script).digest('hex')));
  return digest;
}
