// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../../packages/server/bin/intertie.mjs', import.meta.url));
const megabyte = 1e6;
/** Says at the end how much memory the process had at most, in kilobytes. */
const tellMemory = `data:text/javascript,${encodeURIComponent(
  `process.on('exit', () => process.stderr.write('\\nmaxRSS ' + process.resourceUsage().maxRSS + '\\n'))`,
)}`;

/** The items of a run of AG-UI: a text of 400 words, and a tool call. `#` is where the run's number goes. */
const items = [
  { type: 'RUN_STARTED', threadId: 't', runId: 'r#', protocolVersion: '1.0' },
  { type: 'TEXT_MESSAGE_START', messageId: 'm#', role: 'assistant' },
  ...Array.from({ length: 400 }, (_, n) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm#', delta: ` word ${n}` })),
  { type: 'TEXT_MESSAGE_END', messageId: 'm#' },
  { type: 'TOOL_CALL_START', toolCallId: 'c#', toolCallName: 'search' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c#', delta: '{"q":"x"}' },
  { type: 'TOOL_CALL_END', toolCallId: 'c#' },
  { type: 'TOOL_CALL_RESULT', messageId: 'x#', toolCallId: 'c#', content: 'found' },
  { type: 'RUN_FINISHED', threadId: 't', runId: 'r#' },
];
const template = items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join('');

/** A megabyte of runs after so many others: a log of many, each under ids of its own. @param {number} before */
function piece(before) {
  const runs = Math.ceil(megabyte / template.length);
  const text = Array.from({ length: runs }, (_, n) => template.replaceAll('#', String(before + n))).join('');
  return { runs, bytes: Buffer.from(text) };
}

/**
 * Pipes a stream of that size into the command, in a process of its own, and throws away what it writes.
 * @param {string[]} args
 * @param {number} size in bytes
 * @returns {Promise<{ ms: number, items: number, memory: number }>} memory in megabytes
 */
async function pipe(args, size) {
  const start = performance.now();
  const child = spawn(process.execPath, ['--import', tellMemory, bin, ...args], { stdio: ['pipe', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (data) => (said += String(data)));
  const closed = once(child, 'close');
  let count = 0;
  for (let written = 0; written < size;) {
    const { runs, bytes } = piece(count);
    count += runs;
    written += bytes.length;
    if (!child.stdin.write(bytes)) await once(child.stdin, 'drain');
  }
  child.stdin.end();
  const [code] = await closed;
  if (code !== 0) throw new Error(`intertie ${args.join(' ')} exited with ${code}: ${said}`);
  const memory = Number(/maxRSS (\d+)/.exec(said)?.[1]) / 1000;
  return { ms: performance.now() - start, items: count * items.length, memory };
}

/** @type {import('../measure.mjs').Suite} */
export default {
  title: 'cli: an AG-UI stream that is piped into the command line',
  async run({ repeats, progress }) {
    const rows = [];
    // Twice is enough to see how far they differ: they take the better part of a minute each.
    const rounds = Math.min(repeats, 2);
    const whole = repeats > 1 ? 500 : 50;
    const tenth = whole / 10;
    for (const args of [['convert', '--to', 'ui-message-stream', '--quiet'], ['check']]) {
      const name = args.filter((word) => word !== '--quiet').join(' ');
      progress(`${name}: ${tenth} MB, for its memory`);
      const small = await pipe(args, tenth * megabyte);
      const results = [];
      for (let round = 1; round <= rounds; round++) {
        progress(`${name}: ${whole} MB, round ${round} of ${rounds}`);
        results.push(await pipe(args, whole * megabyte));
      }
      const times = results.map(({ ms }) => ms).toSorted((a, b) => a - b);
      const median = times[times.length >> 1] ?? 0;
      const memory = Math.max(...results.map((result) => result.memory));
      rows.push({
        name,
        events: results[0]?.items ?? 0,
        ours: { median, low: times[0] ?? 0, high: times.at(-1) ?? 0 },
        note: `${whole} MB at ${((1000 * whole) / median).toFixed(0)} MB/s; at most ${memory.toFixed(0)} MB of memory, of ${tenth} MB input ${small.memory.toFixed(0)}`,
      });
    }
    return rows;
  },
};
