import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { askEndpoint, type EndpointOptions } from './ask-endpoint.ts';
import { nearest } from '../nearest.ts';
import { ToolError } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';

export interface Input {
  bytes: AsyncIterable<Uint8Array>;
  /** For people. */
  label: string;
  /** In bytes, where it is known. */
  size?: number;
  /** Whether its items come as they happen. */
  isLive: boolean;
  /** What was said to the endpoint. */
  asked?: string;
  /** What the server said of the dialect. */
  dialect?: string;
}

const pieceSize = 256 * 1024;

export const isUrl = (target: string): boolean => /^https?:\/\//i.test(target);

/** A file, a URL, or `-` for what is piped in, which is also what is meant where nothing is said. */
export async function openInput(target: string | undefined, endpoint: EndpointOptions, io: ToolIO): Promise<Input> {
  if (target === undefined || target === '-') {
    if (target === undefined && io.stdin.isTerminal) {
      const fix = 'Name a file or a URL, or pipe a stream in: curl -N … | intertie check';
      throw new ToolError('usage', 'There is nothing to read.', fix);
    }
    return { bytes: io.stdin, label: 'standard input', isLive: false };
  }
  if (isUrl(target)) return askEndpoint(target, endpoint, io);
  const { size } = await statFile(target);
  return { bytes: createReadStream(target, { highWaterMark: pieceSize }), label: target, size, isLive: false };
}

/** A host with a port, or one that everybody has. */
export const isAddress = (text: string): boolean => /^(?:[\w.-]+:\d+|localhost)(?:\/|$)/.test(text);

async function statFile(path: string): Promise<{ size: number }> {
  let found;
  try {
    found = await stat(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new ToolError('unreadable', `${path} cannot be read: ${message}`);
    if (isAddress(path))
      throw new ToolError('unreadable', `There is no file ${path}.`, `If it is an address, write http://${path}`);
    const near = nearest(basename(path), await readdir(dirname(path)).catch(() => []));
    const fix =
      near === undefined
        ? undefined
        : `There is ${path.slice(0, path.length - basename(path).length)}${near} beside it.`;
    throw new ToolError('unreadable', `There is no file ${path}.`, fix);
  }
  if (found.isDirectory()) throw new ToolError('unreadable', `${path} is a folder.`, 'Name a file in it.');
  return { size: found.size };
}
