import type { Protocol } from '@intertie/core';
import type { EndpointOptions } from '../input/request-endpoint.ts';
import { formatCheck, toCheckJson, type CheckedStream } from './check-report.ts';
import { createDetector } from '../formats/detect-protocol.ts';
import { createProtocolList, type SelectedVariants } from '../formats/protocol-list.ts';
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
  /** Selected versions of protocols. */
  variants?: SelectedVariants | undefined;
  /** Default: all protocols. */
  protocols?: readonly Protocol[] | undefined;
}

const defaultMax = { text: 3, json: 100 };
/** Number of items from which the protocol is detected, to compare it with the requested one. */
const sample = 20;

/** Checks a stream against the rules of its protocol and prints the report. Returns the exit code. */
export async function checkStream(options: CheckOptions, io: ToolIO): Promise<ToolExit> {
  const protocols = createProtocolList(options.protocols, options.variants);
  const requested = options.as === undefined ? undefined : protocols.find(options.as);
  const framing = readInputFraming(options.inputFormat);
  const paint = paintFor(io.stdout, io.env);
  const input = await openInput(options.input, { ...options, as: requested?.name }, io, protocols.all);
  const declared = input.protocol === undefined ? undefined : protocols.find(input.protocol);
  const startedAt = io.now();
  const stream = await openStream(withProgress(input, io), { protocols, framing, protocol: requested ?? declared });

  const max = options.max ?? (options.json ? defaultMax.json : defaultMax.text);
  const check = new StreamCheck(stream.known, max);
  const detector = createDetector(protocols.all);
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
