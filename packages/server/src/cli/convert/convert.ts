import type { AgentEvent, Json, JsonObject, TapeHeader } from '@intertie/core';
import type { EndpointOptions } from '../input/request-endpoint.ts';
import {
  canRead,
  canWrite,
  createProtocolList,
  type ProtocolList,
  type SelectedVariants,
} from '../formats/protocol-list.ts';
import { readInputFraming } from '../formats/frame.ts';
import type { Protocol } from '@intertie/core';
import { createItemClock } from '../input/item-clock.ts';
import { LossReport } from './loss-report.ts';
import { openInput } from '../input/open-input.ts';
import { openOutput } from '../formats/open-output.ts';
import { openStream, type Entry, type ItemStream } from '../input/open-stream.ts';
import { paintFor } from '../paint.ts';
import { withProgress } from '../input/progress.ts';
import { exitCodes, ToolError, type ToolExit } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';
import { createTranscoder } from './transcoder.ts';
import { selectOutputFraming, writeFraming } from '../formats/write-framing.ts';

export interface ConvertOptions extends EndpointOptions {
  /** A file, a URL, or `-`. */
  input?: string | undefined;
  from?: string | undefined;
  to: string;
  format?: string | undefined;
  inputFormat?: string | undefined;
  output?: string | undefined;
  /** Whether the loss report is written as one line of JSON. */
  json?: boolean | undefined;
  quiet?: boolean | undefined;
  /** Whether losses lead to exit code 1. */
  strict?: boolean | undefined;
  /** Selected versions of protocols. */
  variants?: SelectedVariants | undefined;
  /** Default: all protocols. */
  protocols?: readonly Protocol[] | undefined;
}

type Outcome = Extract<AgentEvent, { type: 'run-end' }>;
type Summary = { from: string; to: string; items: number; written: number; runs: number; cut: number };

/** Converts a stream to another protocol and prints the loss report. Returns the exit code. */
export async function convert(options: ConvertOptions, io: ToolIO): Promise<ToolExit> {
  const protocols = createProtocolList(options.protocols, options.variants);
  const to = protocols.find(options.to);
  const from = options.from === undefined ? undefined : protocols.find(options.from);
  const inputFraming = readInputFraming(options.inputFormat);
  const format = selectOutputFraming(options.format, options.output, to);
  if (from) assertPossible(from, to, protocols);

  const input = await openInput(options.input, { ...options, as: from?.name }, io, protocols.all);
  const declared = input.protocol === undefined ? undefined : protocols.find(input.protocol);
  const protocol = from ?? declared;
  const stream = await openStream(withProgress(input, io), { protocols, framing: inputFraming, protocol });
  assertPossible(stream.known, to, protocols);

  const lossReport = new LossReport();
  const createdAt = new Date(io.now()).toISOString();
  const header = { ...copyHeader(stream.header), createdAt, source: stream.known.name };
  const writer = writeFraming(format, to, header);
  const summary: Summary = {
    from: stream.known.name,
    to: to.name,
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
    stream.known === to
      ? {
          feed: (item: unknown, out: typeof emit) => out(item),
          finish: () => void (text += writer.runEnd()),
          end: () => {},
        }
      : createTranscoder({ from: stream.known, to, onLoss: lossReport.add, now: io.now, onRunEnd });

  const handleEntry = (entry: Entry): void => {
    if (entry.type === 'item') {
      summary.items += 1;
      clock.observe(entry);
      codec.feed(entry.item, emit);
    } else if (entry.type === 'done') codec.finish(emit);
    else
      lossReport.add({
        kind: 'repaired',
        what: 'unreadable item',
        why: `Line ${entry.line}: ${entry.message} The item is left out.`,
      });
  };

  const output = await openOutput(options.output, io);
  for await (const batch of stream.batches) {
    io.signal.throwIfAborted();
    for (const entry of batch) handleEntry(entry);
    const ready = text;
    text = '';
    await output.sink.write(ready);
  }
  codec.end({ reason: 'eof' }, emit);
  await output.sink.write(text + writer.end());
  await output.close();
  await printSummary(options, { summary, target: to, lossReport, stream }, io);
  return options.strict && (lossReport.total > 0 || summary.cut > 0) ? exitCodes.found : exitCodes.ok;
}

function assertPossible(from: Protocol, to: Protocol, protocols: ProtocolList): void {
  if (from === to) return;
  const list = (can: (known: Protocol) => boolean): string =>
    protocols.all
      .filter(can)
      .map(({ name }) => name)
      .join(', ');
  if (!canRead(from)) {
    const message = `${from.name} is a history, not a stream, and cannot be converted.`;
    throw new ToolError('usage', message, `Streams are ${list(canRead)}. To check a history: intertie check.`);
  }
  if (!canWrite(to)) {
    const message = `${to.name} can be read, but not written.`;
    throw new ToolError('usage', message, `Use one of ${list(canWrite)}.`);
  }
}

/** Copies the header fields of a tape, except its version and protocol. */
function copyHeader(header: TapeHeader | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(header ?? {}).filter(
      (entry): entry is [string, Json] => entry[0] !== 'tape' && entry[0] !== 'dialect' && entry[1] !== undefined,
    ),
  );
}

async function printSummary(
  options: ConvertOptions,
  {
    summary,
    target,
    lossReport,
    stream,
  }: { summary: Summary; target: Protocol; lossReport: LossReport; stream: ItemStream },
  io: ToolIO,
): Promise<void> {
  if (options.json) {
    const report = { ...summary, framing: stream.framing, lost: lossReport.total, losses: lossReport.entries };
    return io.stderr.write(`${JSON.stringify(report)}\n`);
  }
  if (options.quiet) return;
  const paint = paintFor(io.stderr, io.env);
  const { from, to, items, written, runs, cut } = summary;
  const lines = [];
  if (cut > 0) {
    const subject = runs === 1 ? 'The input ends before its run' : `${cut} of ${runs} runs have no end in the input`;
    lines.push(`${paint('yellow', '!')} ${subject}; closed with the error “truncated”.\n`);
  }
  if (runs > 1 && target.framing.hasDone) {
    lines.push(`${paint('yellow', '!')} The output contains ${runs} messages; a client reads only one per stream.\n`);
  }
  if (lossReport.total > 0) {
    const title = `${lossReport.total} ${lossReport.total === 1 ? 'loss' : 'losses'}`;
    lines.push(`${paint('bold', title)} from ${from} to ${to}:\n`);
    lines.push(lossReport.format(paint));
  } else if (io.stderr.isTerminal) {
    const runsText = runs > 0 ? ` in ${runs} ${runs === 1 ? 'run' : 'runs'}` : '';
    lines.push(paint('dim', `Converted ${items} items of ${from} to ${written} of ${to}${runsText} without losses.\n`));
  }
  await io.stderr.write(lines.join(''));
}
