import type { NatsServers } from '../../../nats/test/nats-servers.mjs';
import type { ChaosDatabase } from './chaos-database.ts';

/** Requests of one reader, to explain a fault. */
export type Trace = { lines: string[]; fetch: typeof fetch };

const maxLines = 60;

/** Records each request of a reader with its position and the headers that end a stream. */
export function startTrace(): Trace {
  const lines: string[] = [];
  const add = (line: string): void => void (lines.length < maxLines && lines.push(line));
  return {
    lines,
    async fetch(input, init) {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      const after = new Headers(init?.headers).get('last-event-id');
      const name = `${new Date().toISOString()} ${pathname}${search}${after === null ? '' : ` after ${after}`}`;
      try {
        const response = await fetch(input, init);
        const ends = ['stream-next-offset', 'stream-closed'].map((header) => response.headers.get(header));
        add(`${name}: ${[response.status, ...ends].filter((value) => value !== null).join(' ')}`);
        return response;
      } catch (error) {
        add(`${name}: ${String(error)}`);
        throw error;
      }
    },
  };
}

/** Describes the stored messages, the runs and the log of a thread, for the report of a fault. */
export async function describeThread(
  database: ChaosDatabase,
  log: NatsServers | undefined,
  thread: string,
): Promise<unknown> {
  const where = `where t.key = '${thread}'`;
  const runs = await database.query<{ id: string }>(
    `select r.id, r.client_run_id, r.agent, r.state, r.outcome, r.last_epoch, r.last_seq, r.created_at, r.started_at,
       r.ended_at, r.log_dropped_at, to_jsonb(l) as live
     from intertie.runs r join intertie.threads t on t.id = r.thread_id left join intertie.run_live l on l.run_id = r.id
     ${where} order by r.serial`,
  );
  const messages = await database.query(
    `select m.id, m.client_id, m.role, m.status, m.run_id, m.content
     from intertie.conversation_message m join intertie.threads t on t.id = m.thread_id ${where} order by m.seq`,
  );
  const entries = await Promise.all(
    runs.map(({ id }) =>
      log
        ? log.readSubject('intertie-runs', id)
        : database.query(
            `select last_seq, n, epoch, at, body from intertie.run_events where run_id = '${id}' order by 1`,
          ),
    ),
  );
  return { thread, messages, runs: runs.map((run, index) => ({ ...run, entries: entries[index] })) };
}
