// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { compareRounds, measureAlternately, spread } from '../measure.mjs';

const bin = fileURLToPath(new URL('../../packages/server/bin/intertie.mjs', import.meta.url));
const floor = fileURLToPath(new URL('../cli/parse-events.mjs', import.meta.url));
const megabyte = 1e6;
/** Prints the peak memory of the process at its end, in kilobytes. */
const tellMemory = `data:text/javascript,${encodeURIComponent(
  `process.on('exit', () => process.stderr.write('\\nmaxRSS ' + process.resourceUsage().maxRSS + '\\n'))`,
)}`;

/** Items of an AG-UI run: a text of 400 words, and a tool call. `#` is replaced by the run's number. */
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

/** Creates a megabyte of runs with new ids. @param {number} before */
function piece(before) {
  const runs = Math.ceil(megabyte / template.length);
  const text = Array.from({ length: runs }, (_, n) => template.replaceAll('#', String(before + n))).join('');
  return { runs, bytes: Buffer.from(text) };
}

/**
 * Pipes a stream of that size into a program in another process, and discards its output.
 * @param {string[]} args the program and its arguments
 * @param {number} size in bytes
 * @returns {Promise<{ ms: number, items: number, memory: number }>} memory in megabytes
 */
async function pipe(args, size) {
  const start = performance.now();
  const child = spawn(process.execPath, ['--import', tellMemory, ...args], { stdio: ['pipe', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (data) => (output += String(data)));
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
  if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}: ${output}`);
  const memory = Number(/maxRSS (\d+)/.exec(output)?.[1]) / 1000;
  return { ms: performance.now() - start, items: count * items.length, memory };
}

/** @type {import('../measure.mjs').Suite} */
export default {
  title: 'cli: an AG-UI stream that is piped into the command line',
  async run(options) {
    const rows = [];
    // Two rounds show the spread: each takes most of a minute.
    const rounds = { ...options, repeats: Math.min(options.repeats, 2) };
    const whole = options.repeats > 1 ? 500 : 50;
    const tenth = whole / 10;
    for (const args of [['convert', '--to', 'ui-message-stream', '--quiet'], ['check']]) {
      const name = args.filter((word) => word !== '--quiet').join(' ');
      options.progress(`${name}: ${tenth} MB, for its memory`);
      const small = await pipe([bin, ...args], tenth * megabyte);
      let memory = 0;
      let events = 0;
      const convert = async () => {
        const result = await pipe([bin, ...args], whole * megabyte);
        memory = Math.max(memory, result.memory);
        events = result.items;
        return result.ms;
      };
      const parse = async () => (await pipe([floor], whole * megabyte)).ms;
      // Each round is a new process, so there is nothing to warm up.
      const [ours = [], theirs = []] = await measureAlternately(rounds, `${name}: ${whole} MB`, [convert, parse], 0);
      const speed = ((1000 * whole) / spread(ours).median).toFixed(0);
      rows.push({
        name,
        events,
        ours: spread(ours),
        peerName: 'eventsource-parser + JSON.parse: the floor',
        ...compareRounds(ours, theirs),
        note: `${whole} MB at ${speed} MB/s; at most ${memory.toFixed(0)} MB of memory, of ${tenth} MB input ${small.memory.toFixed(0)}`,
      });
    }
    return rows;
  },
};
