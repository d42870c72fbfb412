import type { AgentEvent, Json, JsonObject, TapeHeader } from '@intertie/core';
import type { EndpointOptions } from '../input/ask-endpoint.ts';
import { canRead, canWrite, createDialects, getDialectName, type Dialects } from '../formats/dialects.ts';
import { readInputFraming } from '../formats/frame.ts';
import type { KnownDialect } from '../formats/known-dialect.ts';
import { createItemClock } from '../input/item-clock.ts';
import { Ledger } from './loss-report.ts';
import { openInput } from '../input/open-input.ts';
import { openOutput } from '../formats/open-output.ts';
import { openStream, type Entry, type ItemStream } from '../input/open-stream.ts';
import { paintFor } from '../paint.ts';
import { withProgress } from '../input/progress.ts';
import { exitCodes, ToolError, type ToolExit } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';
import { createTranscoder } from './transcoder.ts';
import { outputFraming, writeFraming } from '../formats/write-framing.ts';

export interface ConvertOptions extends EndpointOptions {
  /** A file, a URL, or `-`. */
  input?: string | undefined;
  from?: string | undefined;
  to: string;
  format?: string | undefined;
  inputFormat?: string | undefined;
  output?: string | undefined;
  /** The ledger as one line of JSON. */
  json?: boolean | undefined;
  quiet?: boolean | undefined;
  /** Whether a loss is a failure. */
  strict?: boolean | undefined;
  /** The major of `ai` that reads a UI message stream. */
  uiVersion?: 6 | 7 | undefined;
}

type Outcome = Extract<AgentEvent, { type: 'run-end' }>;
type Summary = { from: string; to: string; items: number; written: number; runs: number; cut: number };

/** Any stream as one of another dialect. Gives the exit code. */
export async function convert(options: ConvertOptions, io: ToolIO): Promise<ToolExit> {
  const dialects = createDialects(options.uiVersion);
  const to = dialects.find(options.to);
  const from = options.from === undefined ? undefined : dialects.find(options.from);
  const inputFraming = readInputFraming(options.inputFormat);
  const format = outputFraming(options.format, options.output, getDialectName(to));
  if (from) assertPossible(from, to, dialects);

  const input = await openInput(options.input, { ...options, as: from && getDialectName(from) }, io);
  const said = input.dialect === undefined ? undefined : dialects.find(input.dialect);
  const stream = await openStream(withProgress(input, io), { dialects, framing: inputFraming, dialect: from ?? said });
  assertPossible(stream.known, to, dialects);

  const ledger = new Ledger();
  const createdAt = new Date(io.now()).toISOString();
  const header = { ...headerOf(stream.header), createdAt, source: getDialectName(stream.known) };
  const writer = writeFraming(format, getDialectName(to), header);
  const summary: Summary = {
    from: getDialectName(stream.known),
    to: getDialectName(to),
    items: 0,
    written: 0,
    runs: 0,
    cut: 0,
  };
  const clock = createItemClock(stream.known, input.isLive ? io.now : undefined);

  let text = '';
  const emit = (item: unknown): void => {
    summary.written += 1;
    text += writer.item(item, () => clock.time());
  };
  const onRunEnd = (end: Outcome): void => {
    summary.runs += 1;
    if (end.outcome === 'error' && end.error.code === 'truncated') summary.cut += 1;
    text += writer.runEnd();
  };
  const codec =
    stream.known.dialect === to.dialect
      ? {
          feed: (item: unknown, out: typeof emit) => out(item),
          finish: () => void (text += writer.runEnd()),
          end: () => {},
        }
      : createTranscoder({ from: stream.known, to, onLoss: ledger.add, now: io.now, onRunEnd });

  const take = (entry: Entry): void => {
    if (entry.type === 'item') {
      summary.items += 1;
      clock.see(entry);
      codec.feed(entry.item, emit);
    } else if (entry.type === 'done') codec.finish(emit);
    else
      ledger.add({
        kind: 'repaired',
        what: 'unreadable item',
        why: `Line ${entry.line}: ${entry.message} It is left out.`,
      });
  };

  const output = await openOutput(options.output, io);
  for await (const batch of stream.batches) {
    io.signal.throwIfAborted();
    for (const entry of batch) take(entry);
    const ready = text;
    text = '';
    await output.sink.write(ready);
  }
  codec.end({ reason: 'eof' }, emit);
  await output.sink.write(text + writer.end());
  await output.close();
  await tell(options, summary, ledger, stream, io);
  return options.strict && (ledger.total > 0 || summary.cut > 0) ? exitCodes.found : exitCodes.ok;
}

function assertPossible(from: KnownDialect, to: KnownDialect, dialects: Dialects): void {
  if (from.dialect === to.dialect) return;
  const list = (can: (known: KnownDialect) => boolean): string =>
    dialects.all.filter(can).map(getDialectName).join(', ');
  if (!canRead(from)) {
    const message = `${getDialectName(from)} is a history, not a stream, and cannot be converted.`;
    throw new ToolError('usage', message, `Streams are ${list(canRead)}. To look for mistakes in it: intertie check.`);
  }
  if (!canWrite(to)) {
    const message = `${getDialectName(to)} can be read, but not written.`;
    throw new ToolError('usage', message, `What can be written: ${list(canWrite)}.`);
  }
}

/** What a tape says of itself goes on to the next, but for what it is. */
function headerOf(header: TapeHeader | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(header ?? {}).filter(
      (entry): entry is [string, Json] => entry[0] !== 'tape' && entry[0] !== 'dialect' && entry[1] !== undefined,
    ),
  );
}

async function tell(
  options: ConvertOptions,
  summary: Summary,
  ledger: Ledger,
  stream: ItemStream,
  io: ToolIO,
): Promise<void> {
  if (options.json) {
    const report = { ...summary, framing: stream.framing, lost: ledger.total, losses: ledger.entries };
    return io.stderr.write(`${JSON.stringify(report)}\n`);
  }
  if (options.quiet) return;
  const paint = paintFor(io.stderr, io.env);
  const { from, to, items, written, runs, cut } = summary;
  const lines = [];
  if (cut > 0) {
    const what = runs === 1 ? 'The input ends before its run does' : `${cut} of ${runs} runs have no end in the input`;
    lines.push(`${paint('yellow', '!')} ${what}: it is closed as an error, “truncated”.\n`);
  }
  if (runs > 1 && to === 'ui-message-stream') {
    lines.push(`${paint('yellow', '!')} The output holds ${runs} messages; a client reads one in a stream.\n`);
  }
  if (ledger.total > 0) {
    lines.push(
      `${paint('bold', `${ledger.total} ${ledger.total === 1 ? 'thing' : 'things'} did not get through`)} from ${from} to ${to}:\n`,
    );
    lines.push(ledger.format(paint));
  } else if (io.stderr.isTerminal) {
    const runsText = runs > 0 ? ` in ${runs} ${runs === 1 ? 'run' : 'runs'}` : '';
    lines.push(paint('dim', `${items} items of ${from} are ${written} of ${to}${runsText}; nothing was lost.\n`));
  }
  await io.stderr.write(lines.join(''));
}
