import type { EndpointOptions } from '../input/request-endpoint.ts';
import { formatCheck, toCheckJson, type CheckedStream } from './check-report.ts';
import { createDetector } from '../formats/detect-dialect.ts';
import { createDialects, getDialectName } from '../formats/dialects.ts';
import { readInputFraming } from '../formats/frame.ts';
import { isUrl, openInput } from '../input/open-input.ts';
import { openStream } from '../input/open-stream.ts';
import { paintFor } from '../paint.ts';
import { withProgress } from '../input/progress.ts';
import { StreamCheck } from './stream-check.ts';
import { exitCodes, ToolError, type ToolExit } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';

export interface CheckOptions extends EndpointOptions {
  input?: string | undefined;
  inputFormat?: string | undefined;
  json?: boolean | undefined;
  /** Maximum number of places shown per rule. Default: 3, or 100 with `json`. */
  max?: number | undefined;
  /** Major version of `ai` that reads a UI message stream. */
  uiVersion?: 6 | 7 | undefined;
}

const defaultMax = { text: 3, json: 100 };
/** Number of items from which the dialect is detected, to compare it with the requested one. */
const sample = 20;

/** Checks a stream against the rules of its dialect and prints the report. Returns the exit code. */
export async function checkStream(options: CheckOptions, io: ToolIO): Promise<ToolExit> {
  const dialects = createDialects(options.uiVersion);
  const requested = options.as === undefined ? undefined : dialects.find(options.as);
  const framing = readInputFraming(options.inputFormat);
  const paint = paintFor(io.stdout, io.env);
  const input = await openInput(options.input, { ...options, as: requested && getDialectName(requested) }, io);
  const declared = input.dialect === undefined ? undefined : dialects.find(input.dialect);
  const startedAt = io.now();
  const stream = await openStream(withProgress(input, io), { dialects, framing, dialect: requested ?? declared });

  const max = options.max ?? (options.json ? defaultMax.json : defaultMax.text);
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
    // Reports the items before the failure.
    if (!(error instanceof ToolError) || check.items === 0) throw error;
    failure = error;
  }

  const checked: CheckedStream = {
    label: input.label,
    prompt: input.prompt,
    stream,
    check,
    looksLike: detector.settle(),
    ms: isUrl(options.input ?? '') ? io.now() - startedAt : undefined,
    failure,
  };
  const report = options.json
    ? `${JSON.stringify(toCheckJson(checked))}\n`
    : formatCheck(checked, io.stdout.columns, paint);
  await io.stdout.write(report);
  if (failure) return failure.exitCode;
  return check.violations > 0 ? exitCodes.found : exitCodes.ok;
}
