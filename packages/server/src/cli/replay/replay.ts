import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { nodeListener } from '../../http/node-listener.ts';
import { getDialectName } from '../formats/dialects.ts';
import { loadTape, type LoadedTape } from '../input/load-tape.ts';
import { nearest } from '../nearest.ts';
import { paintFor, type Paint } from '../paint.ts';
import { createReplayHandler, replayDialects, replayPaths, type ReplayDialect } from './replay-handler.ts';
import { exitCodes, ToolError, type ToolExit } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';

export interface ReplayOptions {
  tapes: readonly string[];
  as?: string | undefined;
  /** 1 as recorded, 2 twice as fast, Infinity at once. */
  speed?: number | undefined;
  /** 0: any that is free. */
  port?: number | undefined;
  quiet?: boolean | undefined;
}

/** Plays tapes to whoever asks, on this machine alone, until it is stopped. Gives the exit code. */
export async function replay(options: ReplayOptions, io: ToolIO): Promise<ToolExit> {
  const { speed = 1, port = 0, quiet = false } = options;
  if (!(speed > 0))
    throw new ToolError(
      'usage',
      `A tape cannot be played at speed ${speed}.`,
      'Give a number above 0, or “Infinity” for at once.',
    );
  const as = readReplayDialect(options.as);
  const tapes = await Promise.all(options.tapes.map((file) => loadTape(file, io)));
  const paint = paintFor(io.stderr, io.env);
  const tell = (line: string): void => {
    if (!quiet) void io.stderr.write(`${line}\n`);
  };
  const handler = createReplayHandler({ tapes, as, speed, onRequest: (line) => tell(paint('dim', `  ${line}`)) });
  const server = createServer(nodeListener(handler));
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? `Port ${port} is taken.` : `Port ${port} cannot be opened: ${message}`;
    throw new ToolError('usage', why, 'Choose another with --port, or leave it out for any that is free.');
  }
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await io.stderr.write(greeting(options, tapes, origin, as, paint));
  // The one line that a script waits for.
  await io.stdout.write(`${origin}\n`);
  if (!io.signal.aborted) await once(io.signal, 'abort');
  server.close();
  server.closeAllConnections();
  return exitCodes.ok;
}

function readReplayDialect(name: string | undefined): ReplayDialect | undefined {
  if (name === undefined) return undefined;
  const found = replayDialects.find((dialect) => dialect === name);
  if (found) return found;
  const near = nearest(name, replayDialects);
  const meant = near === undefined ? '' : ` Did you mean “${near}”?`;
  throw new ToolError(
    'usage',
    `A tape cannot be played as “${name}”.${meant}`,
    `It is played as ${replayDialects.join(', ')}.`,
  );
}

function greeting(
  options: ReplayOptions,
  tapes: readonly LoadedTape[],
  origin: string,
  as: ReplayDialect | undefined,
  paint: Paint,
): string {
  const lines = tapes.map(({ tape, known, isPaced }, index) => {
    const seconds = ((tape.items.at(-1)?.t ?? 0) / 1000).toFixed(1);
    const time = isPaced ? `at an even pace (it has no times), ${seconds} s` : `${seconds} s`;
    return `${paint('green', '▶')} ${paint('bold', options.tapes[index] ?? '')}: ${tape.items.length} items of ${getDialectName(known)}, ${time}`;
  });
  const served = as === undefined ? replayDialects : [as];
  for (const dialect of served) lines.push(`  ${dialect.padEnd(18)} POST ${origin}${replayPaths[dialect]}`);
  if (as !== undefined) lines.push(paint('dim', '  (and any other path)'));
  lines.push(paint('dim', '  Ctrl-C stops it.'));
  return `${lines.join('\n')}\n`;
}
