import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { canonical, createStreamChecker, type CheckReport } from '@intertie/conformance';
import {
  encodeMessage,
  foldEvents,
  iterate,
  MessageList,
  parseTape,
  playTape,
  unfold,
  type Tape,
} from '@intertie/core';
import { readEvent } from '@intertie/core/internal';
import { paintFor } from './paint.ts';
import { render } from './render.ts';

const help = `Plays tapes of agent runs in the terminal.

usage: npm run replay [-- options] [tape.jsonl …]

  --speed N   playback speed (default: 1 in a terminal, otherwise Infinity)
  --json      prints only the resulting message, as JSON
  -h, --help

Without a tape, plays two tapes of Intertie: three agents work and ask for approval, then the answer arrives
and the same message continues.`;

const demo = ['swarm-asks', 'swarm-goes-on'].map((name) =>
  fileURLToPath(import.meta.resolve(`@intertie/conformance/corpus/${name}.tape.jsonl`)),
);

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return 2;
});

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { speed: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const atOnce = values.json || !process.stdout.isTTY;
  const speed = values.speed === undefined ? (atOnce ? Infinity : 1) : Number(values.speed);
  const files = positionals.length > 0 ? positionals : demo;
  const tapes = await Promise.all(files.map(openTape));

  const list = new MessageList();
  const reports = [];
  for (const tape of tapes) reports.push(await play(tape, speed, values.json ? () => undefined : write, list));
  const { message } = list;
  if (values.json) {
    console.log(JSON.stringify(message && encodeMessage(message), undefined, 2));
    return 0;
  }
  const events = reports.reduce((sum, { items }) => sum + items, 0);
  const violations = reports.flatMap((report) => report.violations);
  const paint = paintFor(process.stdout, process.env);
  for (const { index, rule, message: what, fix } of violations)
    console.log(paint('red', `  ${index} ${rule}: ${what} ${fix}`));
  if (!message) return violations.length > 0 ? 1 : 0;
  const isRoundTrip = isDeepStrictEqual(foldEvents(unfold(message)), message);
  console.log(`
  ${events} events of ${reports.length} runs folded into ${list.messages.length === 1 ? 'one message' : `${list.messages.length} messages`} of ${message.content.parts.length} parts.
  ${violations.length === 0 ? paint('green', '✓') : paint('red', '✗')} the checker found ${violations.length === 0 ? 'no violations' : `${violations.length} violations`}
  ${isRoundTrip ? paint('green', '✓') : paint('red', '✗')} the message unfolds into events that fold into the same message
  ${paint('dim', 'npm run replay -- --json prints the message; --help lists all options')}
`);
  return violations.length > 0 || !isRoundTrip ? 1 : 0;
}

async function openTape(file: string): Promise<Tape> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new Error(error.code === 'ENOENT' ? `File not found: ${file}` : `${file} cannot be read: ${error.message}`);
  });
  const tape = parseTape(bytes, ({ what, why }) => console.error(`${file}, ${what}: ${why}`));
  if (tape.header.dialect === 'canonical') return tape;
  throw new Error(`${file} has the dialect "${tape.header.dialect}"; this program plays canonical tapes.`);
}

async function play(tape: Tape, speed: number, out: (text: string) => void, list: MessageList): Promise<CheckReport> {
  const checking = createStreamChecker(canonical);
  const view = render({
    width: Math.min(process.stdout.columns ?? 100, 110),
    paint: paintFor(process.stdout, process.env),
  });
  for await (const item of iterate(playTape(tape, { speed }))) {
    checking.feed(item);
    const event = readEvent(item);
    list.feed(event);
    view.feed(event, out);
  }
  return checking.end();
}

function write(text: string): void {
  process.stdout.write(text);
}
