import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { MessageInput } from '@intertie/core/store';
import { createStore } from '@intertie/postgres';
import { expect, test } from 'vitest';
import { newPostgresUrl } from '../../postgres/test/databases.ts';

// `npm run soak -- packages/server/test/load.soak.ts`: the node, its clients and Postgres are separate processes. The results depend
// on all three, so run it on an idle machine. It fails if a single word is lost.
const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);
const [perSecond, seconds] = [number('SOAK_WORDS', 20), number('SOAK_SECONDS', 30)];
const requests = number('SOAK_REQUESTS', 50);
const protocols = process.env['SOAK_PROTOCOLS'] ?? 'chat,ag-ui,events';
/** `script`: a source that costs next to nothing. `model`: a language model behind `streamText`. */
const sources = (process.env['SOAK_SOURCES'] ?? 'script,model').split(',');
const cases = sources.map((source) => ({ source, streams: number('SOAK_STREAMS', source === 'model' ? 50 : 300) }));
/** For example `--cpu-prof --cpu-prof-dir=profile`. */
const nodeOptions = (process.env['SOAK_NODE_OPTIONS'] ?? '').split(' ').filter((option) => option !== '');

type Used = { cpuMs: number; wallMs: number; rss: number; utilization: number };
type Summary = { count: number; p50: number; p99: number; max: number };
type Seen = {
  first: Summary;
  delays: Summary;
  steady: Summary;
  history: Summary;
  pieces: number;
  cpuMs: number;
  wallMs: number;
};

/** Starts a program in a child process and reads its output line by line. */
function start(
  program: string,
  ...given: Array<string | number>
): { child: ChildProcess; line: () => Promise<string> } {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const options = program === 'load-node.mjs' ? nodeOptions : [];
  const child = spawn(process.execPath, [...options, path, ...given.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const { done, value } = await lines.next();
    if (done) throw new Error(`${program} exited early.`);
    return value;
  };
  return { child, line };
}

/** Stores a thread of forty messages, which clients read during the test. */
async function saveHistory(url: string): Promise<void> {
  const store = await createStore(url);
  const text = 'A paragraph of text of a usual length for an answer. '.repeat(12);
  const messages = Array.from({ length: 40 }, (_, n): MessageInput => {
    const content = { format: 2 as const, parts: [{ type: 'text' as const, text: `${n}: ${text}` }] };
    const role = n % 2 === 0 ? 'user' : 'assistant';
    return { id: `m${n}`, threadId: 'history', role, type: 'text', createdAt: new Date(), status: 'complete', content };
  });
  await store.saveMessages({ messages });
  await store.close();
}

test.each(cases)(
  `serves $streams live streams of ${perSecond} words per second from a $source`,
  async ({ source, streams }) => {
    const words = perSecond * seconds;
    const database = await newPostgresUrl();
    await saveHistory(database);
    const node = start('load-node.mjs', database, perSecond, words, source);
    const url = await node.line();
    const used = async (): Promise<Used> => {
      node.child.stdin!.write('used\n');
      return JSON.parse(await node.line()) as Used;
    };
    const client = start('load-client.mjs', url, streams, words, requests, protocols);
    expect(await client.line()).toBe('begun');
    const before = await used();
    const seen = JSON.parse(await client.line()) as Seen;
    const after = await used();
    const stopped = once(node.child, 'exit');
    node.child.kill('SIGTERM');
    await stopped;

    expect(seen.delays.count).toBe(streams * words);
    const elapsed = after.wallMs - before.wallMs;
    const quantiles = ({ p50, p99, max }: Summary): string => `p50 ${p50}, p99 ${p99}, max ${max} ms`;
    const cores = (cpuMs: number, wallMs: number): string => `${Math.round((cpuMs / wallMs) * 100)} % of a core`;
    process.stdout.write(
      [
        `${source}: ${streams} streams (${protocols}), ${seen.delays.count} words, none lost, ${Math.round(seen.delays.count / (seen.wallMs / 1000))}/s in all`,
        `word due → client, all live: ${quantiles(seen.steady)}; from the first on: ${quantiles(seen.delays)}`,
        `request → headers of a stream: ${quantiles(seen.first)}`,
        `history: ${seen.history.count} requests, ${quantiles(seen.history)}`,
        `node: ${cores(after.cpuMs - before.cpuMs, elapsed)}, event loop ${Math.round(after.utilization * 100)} %, ${Math.round(after.rss / 2 ** 20)} MB; client: ${cores(seen.cpuMs, seen.wallMs)}`,
        `processor time for a word, history included: ${Math.round(((after.cpuMs - before.cpuMs) / seen.steady.count) * 1000)} µs; ${(seen.delays.count / seen.pieces).toFixed(1)} words a piece`,
        '',
      ].join('\n'),
    );
  },
);
