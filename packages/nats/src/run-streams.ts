import { DatabaseUnavailableError } from '@intertie/core';
import type { RunKey } from '@intertie/core/store';
import { headers, type Msg, type NatsConnection } from '@nats-io/transport-node';

import { decodeEntry, type StoredEntry } from './entry.ts';

/** Settings of the streams. They apply when a stream is created; an existing stream is checked and never changed. */
export type RunStreamOptions = {
  /** Name of the stream and first token of its subjects. Default: `intertie-runs`. */
  stream?: string;
  /**
   * Number of streams that the runs are distributed over, each with its own leader. Must be the same in every process; change it
   * together with `stream`. Default: 1.
   */
  partitions?: number;
  /** Replicas of each stream. Default: 3 in a cluster, 1 on a single server. */
  replicas?: number;
  /** Default: `file`. */
  storage?: 'file' | 'memory';
  /**
   * Retention of an event in milliseconds. Must be longer than a live run may be silent, for example while it waits for an answer.
   * Events of deleted threads are erased at once. Default: 7 days.
   */
  keepMs?: number;
  /** Maximum size of each stream. A full stream refuses events, and loses none. Default: the limit of the account. */
  maxBytes?: number;
  /** Maximum time of a request. Default: 5 s. */
  timeoutMs?: number;
};

/** Messages of runs on JetStream. */
export interface RunStreams {
  /** Creates the streams, or checks existing ones. Every other method calls it first. */
  open(): Promise<void>;
  /** Maximum size of one message. */
  maxPayload(): number;
  /** Publishes a message if the last one of the run has the sequence `after`. Returns its sequence, or null if not. */
  publish(run: RunKey, text: string, after: number): Promise<number | null>;
  /** Writes a last message to each run. `erase`: deletes all others, one run at a time, because the stream waits for it. */
  publishLast(runs: readonly RunKey[], text: string, erase: boolean): Promise<void>;
  /** Loads the last message of a run from the leader. */
  loadLast(run: RunKey): Promise<StoredEntry | null>;
  /** Loads the first message of a run at or after a sequence from the leader. */
  loadNext(run: RunKey, from: number): Promise<StoredEntry | null>;
  /** Loads messages of a run at or after a sequence, at least one if the leader has one. */
  loadFrom(run: RunKey, from: number): Promise<StoredEntry[]>;
}

type ApiError = { code: number; err_code?: number; description?: string };
type StreamConfig = { num_replicas: number; storage: string; discard: string } & { [Flag in StreamFlag]?: boolean };
type StreamFlag = (typeof streamFlags)[number];
type Reply = { error?: ApiError; seq?: number; message?: { seq: number; data?: string }; config?: StreamConfig };

/** `wrong last sequence`, in two variants. */
const conflictCodes = new Set([10071, 10164]);
const noMessage = 10037;
const noStream = 10059;
/** Rollups erase a run, direct reads load pages, and a TTL removes what is left of an erased run. */
const streamFlags = ['allow_rollup_hdrs', 'allow_direct', 'allow_msg_ttl'] as const;
/**
 * First server whose cluster accepts only one of two writers that name the same last message. Earlier ones compare before Raft
 * orders the writes, so they accept both if they arrive together.
 */
const minVersion = '2.11.0';
const pageMessages = 128;
const pageBytes = 2 ** 20;
/** Time for which an erased run refuses late events, longer than any process may send them. */
const erasedTtl = '1h';
const dayMs = 24 * 60 * 60 * 1000;

export function createRunStreams(connection: NatsConnection, options: RunStreamOptions = {}): RunStreams {
  const { stream = 'intertie-runs', partitions = 1, timeoutMs: timeout = 5_000 } = options;
  const { keepMs = 7 * dayMs } = options;
  const names = Array.from({ length: partitions }, (_, n) => (partitions === 1 ? stream : `${stream}-${n}`));
  const toStream = (run: RunKey): string => names[partitions === 1 ? 0 : hash(run) % partitions]!;
  const toSubject = (run: RunKey): string => `${toStream(run)}.${toToken(run)}`;

  const request = async (subject: string, body: string, header?: Record<string, string>): Promise<Reply> => {
    try {
      const reply = await connection.request(subject, body, {
        timeout,
        ...(header && { headers: toHeaders(header) }),
      });
      return reply.json<Reply>();
    } catch (cause) {
      throw toUnavailable(cause, subject);
    }
  };
  const callApi = (name: string, body: object): Promise<Reply> => request(`$JS.API.${name}`, JSON.stringify(body));

  const publish = async (run: RunKey, text: string, header: Record<string, string>): Promise<number | null> => {
    await open();
    const subject = toSubject(run);
    const { error, seq } = await request(subject, text, header);
    if (error && conflictCodes.has(error.err_code ?? 0)) return null;
    if (error || seq === undefined) throw toRefused(error, `write to ${subject}`);
    return seq;
  };

  const load = async (run: RunKey, query: object): Promise<StoredEntry | null> => {
    await open();
    const { error, message } = await callApi(`STREAM.MSG.GET.${toStream(run)}`, query);
    if (error?.err_code === noMessage) return null;
    if (!message) throw toRefused(error, `read ${toSubject(run)}`);
    return decodeEntry(Buffer.from(message.data ?? '', 'base64').toString(), message.seq);
  };
  const loadNext = (run: RunKey, seq: number): Promise<StoredEntry | null> =>
    load(run, { next_by_subj: toSubject(run), seq });

  /** Loads messages in one request from any replica, which may be behind the leader. */
  const loadBatch = async (run: RunKey, seq: number): Promise<StoredEntry[]> => {
    const query = { next_by_subj: toSubject(run), seq, batch: pageMessages, max_bytes: pageBytes };
    const strategy = { strategy: 'sentinel', maxWait: timeout } as const;
    const entries: StoredEntry[] = [];
    try {
      const subject = `$JS.API.DIRECT.GET.${toStream(run)}`;
      for await (const message of await connection.requestMany(subject, JSON.stringify(query), strategy)) {
        if (isLast(message)) break;
        entries.push(decodeEntry(message.string(), Number(message.headers?.get('Nats-Sequence'))));
      }
    } catch (cause) {
      throw toUnavailable(cause, toSubject(run));
    }
    return entries;
  };

  const openStream = async (name: string): Promise<void> => {
    const found = await callApi(`STREAM.INFO.${name}`, {});
    if (found.config) return checkConfig(name, found.config, options);
    if (found.error?.err_code !== noStream) throw toRefused(found.error, `open the stream ${name}`);
    const created = await callApi(`STREAM.CREATE.${name}`, {
      name,
      subjects: [`${name}.*`],
      retention: 'limits',
      storage: options.storage ?? 'file',
      num_replicas: options.replicas ?? (connection.info?.cluster === undefined ? 1 : 3),
      max_age: keepMs * 1e6,
      max_bytes: options.maxBytes ?? -1,
      // A full stream must refuse new events instead of deleting those of live runs.
      discard: 'new',
      ...Object.fromEntries(streamFlags.map((flag) => [flag, true])),
    });
    if (created.error) throw toRefused(created.error, `create the stream ${name}`);
  };

  let opened: Promise<void> | undefined;
  const open = async (): Promise<void> => {
    const opening = (opened ??= (async () => {
      checkVersion(connection.info?.version ?? 'unknown');
      await Promise.all(names.map(openStream));
    })());
    try {
      await opening;
    } catch (error) {
      // The next call tries again.
      if (opened === opening) opened = undefined;
      throw error;
    }
  };

  return {
    open,
    maxPayload: () => connection.info?.max_payload ?? pageBytes,
    publish: (run, text, after) => publish(run, text, { 'Nats-Expected-Last-Subject-Sequence': String(after) }),
    async publishLast(runs, text, erase) {
      if (!erase) return void (await Promise.all(runs.map((run) => publish(run, text, {}))));
      for (const run of runs) await publish(run, text, { 'Nats-Rollup': 'sub', 'Nats-TTL': erasedTtl });
    },
    loadLast: (run) => load(run, { last_by_subj: toSubject(run) }),
    loadNext,
    async loadFrom(run, from) {
      await open();
      const entries = await loadBatch(run, from);
      if (entries.length > 0) return entries;
      const next = await loadNext(run, from);
      return next ? [next] : [];
    },
  };
}

/** Throws if an existing stream gives weaker guarantees than this configuration asks for. */
function checkConfig(name: string, config: StreamConfig, { replicas, storage }: RunStreamOptions): void {
  const wrong: string[] = [];
  if (config.num_replicas < (replicas ?? 1)) wrong.push(`it has ${config.num_replicas} replicas, not ${replicas}`);
  if (storage && config.storage !== storage) wrong.push(`its storage is ${config.storage}, not ${storage}`);
  if (config.discard !== 'new') wrong.push('it deletes old messages when it is full: set discard to new');
  for (const flag of streamFlags) if (!config[flag]) wrong.push(`${flag} is off`);
  if (wrong.length === 0) return;
  throw new Error(
    `The NATS stream ${name} cannot hold run logs: ${wrong.join('; ')}. Change it with "nats stream edit".`,
  );
}

function checkVersion(version: string): void {
  if (isAtLeast(version, minVersion)) return;
  const why = 'The clusters of earlier ones accept two writers of a run at once.';
  throw new Error(`The NATS server has version ${version}. Use ${minVersion} or later. ${why}`);
}

function isAtLeast(version: string, minimum: string): boolean {
  const [numbers, wanted] = [version, minimum].map((text) => text.split(/[.-]/).slice(0, 3).map(Number));
  const different = wanted!.findIndex((part, index) => numbers![index] !== part);
  return different === -1 || numbers![different]! > wanted![different]!;
}

/** Whether this is the status that ends a batch. */
function isLast({ data, headers: found }: Msg): boolean {
  return data.length === 0 && found !== undefined && found.code !== 0;
}

function toHeaders(fields: Record<string, string>): ReturnType<typeof headers> {
  const result = headers();
  for (const [name, value] of Object.entries(fields)) result.set(name, value);
  return result;
}

/** Creates a token of a subject, which must not contain spaces, dots, stars or angle brackets. */
function toToken(run: RunKey): string {
  return encodeURIComponent(run).replaceAll('.', '%2E').replaceAll('*', '%2A');
}

/** FNV-1a. Must never change: it decides the stream of a run. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let n = 0; n < text.length; n++) value = Math.imul(value ^ text.charCodeAt(n), 0x01000193);
  return value >>> 0;
}

function toUnavailable(cause: unknown, subject: string): DatabaseUnavailableError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new DatabaseUnavailableError(`NATS JetStream did not answer a request to ${subject}: ${why}.`, { cause });
}

function toRefused(error: ApiError | undefined, operation: string): DatabaseUnavailableError {
  const why = error ? `${error.description ?? 'error'} (${error.err_code ?? error.code})` : 'an unexpected reply';
  return new DatabaseUnavailableError(`NATS JetStream refused to ${operation}: ${why}.`);
}
