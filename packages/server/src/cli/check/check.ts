import type { EndpointOptions } from '../input/ask-endpoint.ts';
import { formatCheck, toCheckJson, type CheckedStream } from './check-report.ts';
import { createDetector } from '../formats/detect-dialect.ts';
import { createDialects, getDialectName } from '../formats/dialects.ts';
import { readInputFraming } from '../formats/frame.ts';
import { isUrl, openInput } from '../input/open-input.ts';
import { openStream } from '../input/open-stream.ts';
import { paintFor } from '../paint.ts';
import { withProgress } from '../input/progress.ts';
import { StreamCheck } from './running-check.ts';
import { exitCodes, ToolError, type ToolExit } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';

export interface CheckOptions extends EndpointOptions {
  input?: string | undefined;
  inputFormat?: string | undefined;
  json?: boolean | undefined;
  /** How many places of each rule are shown. */
  max?: number | undefined;
  /** The major of `ai` that reads a UI message stream. */
  uiVersion?: 6 | 7 | undefined;
}

const defaultMax = { person: 3, machine: 100 };
/** How many items tell whether it is the dialect that was named. */
const sample = 20;

/** Looks for what is wrong with a stream, and says so. Gives the exit code. */
export async function checkStream(options: CheckOptions, io: ToolIO): Promise<ToolExit> {
  const dialects = createDialects(options.uiVersion);
  const asked = options.as === undefined ? undefined : dialects.find(options.as);
  const framing = readInputFraming(options.inputFormat);
  const paint = paintFor(io.stdout, io.env);
  const input = await openInput(options.input, { ...options, as: asked && getDialectName(asked) }, io);
  const said = input.dialect === undefined ? undefined : dialects.find(input.dialect);
  const began = io.now();
  const stream = await openStream(withProgress(input, io), { dialects, framing, dialect: asked ?? said });

  const max = options.max ?? (options.json ? defaultMax.machine : defaultMax.person);
  const check = new StreamCheck(stream.known, max);
  const detector = createDetector(dialects.all);
  let failure: ToolError | undefined;
  try {
    for await (const batch of stream.batches) {
      io.signal.throwIfAborted();
      for (const entry of batch) {
        if (check.items < sample && entry.type === 'item') detector.feed(entry.item);
        check.feed(entry);
      }
    }
    check.end();
  } catch (error) {
    // What was seen before it is still worth telling.
    if (!(error instanceof ToolError) || check.items === 0) throw error;
    failure = error;
  }

  const checked: CheckedStream = {
    label: input.label,
    asked: input.asked,
    stream,
    check,
    looksLike: detector.settle(),
    ms: isUrl(options.input ?? '') ? io.now() - began : undefined,
    failure,
  };
  const report = options.json
    ? `${JSON.stringify(toCheckJson(checked))}\n`
    : formatCheck(checked, io.stdout.columns, paint);
  await io.stdout.write(report);
  if (failure) return failure.exitCode;
  return check.violations > 0 ? exitCodes.found : exitCodes.ok;
}
