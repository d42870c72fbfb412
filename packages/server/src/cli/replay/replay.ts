import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Protocol } from '@intertie/core';
import { nodeListener } from '../../http/node-listener.ts';
import { loadTape, type LoadedTape } from '../input/load-tape.ts';
import { didYouMean } from '../nearest.ts';
import { paintFor, type Paint } from '../paint.ts';
import { protocols } from '../../protocols.ts';
import { createReplayHandler } from './replay-handler.ts';
import { exitCodes, ToolError, type ToolExit } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';

export interface ReplayOptions {
  tapes: readonly string[];
  as?: string | undefined;
  /** 1 as recorded, 2 twice as fast, Infinity without delays. Default: 1. */
  speed?: number | undefined;
  /** Default: any free port. */
  port?: number | undefined;
  quiet?: boolean | undefined;
  /** Default: all protocols. */
  protocols?: readonly Protocol[] | undefined;
}

/** Serves tapes on loopback until the signal aborts. Returns the exit code. */
export async function replay(options: ReplayOptions, io: ToolIO): Promise<ToolExit> {
  const { speed = 1, port = 0, quiet = false } = options;
  if (!(speed > 0))
    throw new ToolError('usage', `Invalid speed ${speed}.`, 'Use a number above 0, or “Infinity” for no delays.');
  const list = (options.protocols ?? protocols).filter((protocol) => protocol.replay !== undefined);
  const as = readReplayProtocol(options.as, list);
  const tapes = await Promise.all(options.tapes.map((file) => loadTape(file, io)));
  const paint = paintFor(io.stderr, io.env);
  const log = (line: string): void => {
    if (!quiet) void io.stderr.write(`${line}\n`);
  };
  const handler = await createReplayHandler({
    tapes,
    protocols: list,
    as,
    speed,
    onRequest: (line) => log(paint('dim', `  ${line}`)),
  });
  const server = createServer(nodeListener(handler));
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? `Port ${port} is already in use.` : `Cannot open port ${port}: ${message}`;
    throw new ToolError('usage', reason, 'Choose another port with --port, or leave it out for any free one.');
  }
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await io.stderr.write(greeting(options, tapes, origin, as ? [as] : list, paint));
  // Scripts wait for this line, the only one on stdout.
  await io.stdout.write(`${origin}\n`);
  if (!io.signal.aborted) await once(io.signal, 'abort');
  server.close();
  server.closeAllConnections();
  return exitCodes.ok;
}

function readReplayProtocol(name: string | undefined, list: readonly Protocol[]): Protocol | undefined {
  if (name === undefined) return undefined;
  const found = list.find((protocol) => protocol.name === name);
  if (found) return found;
  const names = list.map((protocol) => protocol.name);
  const message = `“${name}” is not a replay protocol.${didYouMean(name, names)}`;
  throw new ToolError('usage', message, `Use one of ${names.join(', ')}.`);
}

function greeting(
  options: ReplayOptions,
  tapes: readonly LoadedTape[],
  origin: string,
  served: readonly Protocol[],
  paint: Paint,
): string {
  const lines = tapes.map(({ tape, known, isPaced }, index) => {
    const seconds = ((tape.items.at(-1)?.t ?? 0) / 1000).toFixed(1);
    const time = isPaced ? `${seconds} s at an even pace (no recorded times)` : `${seconds} s`;
    return `${paint('green', '▶')} ${paint('bold', options.tapes[index] ?? '')}: ${tape.items.length} items of ${known.name}, ${time}`;
  });
  for (const { name, replay: endpoint } of served) lines.push(`  ${name.padEnd(18)} POST ${origin}${endpoint!.path}`);
  if (options.as !== undefined) lines.push(paint('dim', '  (and any other path)'));
  lines.push(paint('dim', '  Press Ctrl-C to stop.'));
  return `${lines.join('\n')}\n`;
}
