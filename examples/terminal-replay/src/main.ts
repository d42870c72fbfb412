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

  --speed N   1 as recorded (in a terminal), 4 four times as fast, Infinity at once (elsewhere)
  --json      the message that the runs make, as JSON, and nothing else
  -h, --help

Without a tape it plays two that come with Intertie: three agents work and ask before they act, and then the
answer arrives and the same message goes on.`;

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
  const back = isDeepStrictEqual(foldEvents(unfold(message)), message);
  console.log(`
  ${events} events of ${reports.length} runs made ${list.messages.length === 1 ? 'one message' : `${list.messages.length} messages`} of ${message.content.parts.length} parts, ready to be kept.
  ${violations.length === 0 ? paint('green', '✓') : paint('red', '✗')} the checker found ${violations.length === 0 ? 'nothing to say' : `${violations.length} violations`}
  ${back ? paint('green', '✓') : paint('red', '✗')} the message unfolds into events, and folds back into itself
  ${paint('dim', 'npm start -- --json prints the message, npm start -- --help the rest')}
`);
  return violations.length > 0 || !back ? 1 : 0;
}

async function openTape(file: string): Promise<Tape> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new Error(error.code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read: ${error.message}`);
  });
  const tape = parseTape(bytes, ({ what, why }) => console.error(`${file}, ${what}: ${why}`));
  if (tape.header.dialect === 'canonical') return tape;
  throw new Error(`${file} holds the dialect "${tape.header.dialect}"; this program plays canonical tapes.`);
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
