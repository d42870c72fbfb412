import { writeTape, toJson, type Protocol } from '@intertie/core';
import { defined, TAPE_VERSION } from '@intertie/core/internal';
import type { EndpointOptions } from '../input/request-endpoint.ts';
import { createProtocolList } from '../formats/protocol-list.ts';
import { createItemClock } from '../input/item-clock.ts';
import { isUrl, openInput } from '../input/open-input.ts';
import { openOutput } from '../formats/open-output.ts';
import { openStream } from '../input/open-stream.ts';
import { paintFor } from '../paint.ts';
import { exitCodes, ToolError, type ToolExit } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';

export interface RecordOptions extends EndpointOptions {
  url: string;
  /** Output file. Default: named after the host and the time. `-` is standard output. */
  output?: string | undefined;
  title?: string | undefined;
  /** Default: all protocols. */
  protocols?: readonly Protocol[] | undefined;
}

/** Records the response of an endpoint with its times as a tape. Returns the exit code. */
export async function record(options: RecordOptions, io: ToolIO): Promise<ToolExit> {
  const { url, prompt, title } = options;
  if (!isUrl(url)) {
    const fix = 'To make a tape of a file: intertie convert --format tape';
    throw new ToolError('usage', `“${url}” is not a URL, and only endpoints can be recorded.`, fix);
  }
  const protocols = createProtocolList(options.protocols);
  const requested = options.as === undefined ? undefined : protocols.find(options.as);
  const input = await openInput(url, { ...options, as: requested?.name }, io, protocols.all);
  const declared = input.protocol === undefined ? undefined : protocols.find(input.protocol);
  const { known, batches } = await openStream(input.bytes, { protocols, protocol: requested ?? declared });

  const createdAt = new Date(io.now()).toISOString();
  const file =
    options.output ??
    `${new URL(url).host.replaceAll(/[^\w.-]/g, '-')}-${createdAt.slice(0, 19).replaceAll(/[T:]/g, '-')}.tape.jsonl`;
  const output = await openOutput(file, io);
  const source = new URL(url);
  const codec = writeTape({
    tape: TAPE_VERSION,
    dialect: known.name,
    createdAt,
    // Without the query and credentials, which may contain secrets.
    source: `${source.origin}${source.pathname}`,
    ...defined({ prompt, title }),
  });
  const clock = createItemClock(known, io.now);
  let text = '';
  let items = 0;
  let broken = 0;
  const emit = (line: string): void => void (text += line);
  const flush = async (): Promise<void> => {
    const ready = text;
    text = '';
    await output.sink.write(ready);
  };
  let failure: unknown;
  try {
    for await (const batch of batches) {
      for (const entry of batch) {
        if (entry.type === 'problem') broken += 1;
        if (entry.type !== 'item') continue;
        clock.observe(entry);
        codec.feed({ t: clock.time(), item: toJson(entry.item) }, emit);
        items += 1;
      }
      await flush();
      if (io.signal.aborted) break;
    }
  } catch (error) {
    // A tape of a broken connection is useful for debugging.
    if (items === 0) throw error;
    failure = error;
  }
  codec.end({ reason: 'eof' }, emit);
  await flush();
  await output.close();

  const paint = paintFor(io.stderr, io.env);
  const seconds = (clock.time() / 1000).toFixed(1);
  const lines = [
    `${paint('green', '●')} Recorded ${items} items of ${known.name} in ${seconds} s: ${paint('bold', file === '-' ? 'standard output' : file)}`,
  ];
  if (broken > 0)
    lines.push(`${paint('yellow', '!')} ${broken} unreadable items are left out. To see why: intertie check ${url}`);
  if (failure && !io.signal.aborted)
    lines.push(`${paint('yellow', '!')} The connection broke during the recording: ${(failure as Error).message}`);
  if (file !== '-') lines.push(paint('dim', `  To play it: intertie replay ${file}`));
  await io.stderr.write(`${lines.join('\n')}\n`);
  return failure instanceof ToolError ? failure.exitCode : exitCodes.ok;
}
