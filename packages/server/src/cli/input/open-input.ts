import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Protocol } from '@intertie/core';
import { requestEndpoint, type EndpointOptions } from './request-endpoint.ts';
import { nearest } from '../nearest.ts';
import { ToolError } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';

/** Bytes of a file, an endpoint or standard input. */
export interface Input {
  bytes: AsyncIterable<Uint8Array>;
  /** Name of the input, for display. */
  label: string;
  /** Size in bytes, if known. */
  size?: number;
  /** Whether items arrive as they are produced. */
  isLive: boolean;
  /** Prompt that was sent to the endpoint. */
  prompt?: string;
  /** Protocol that the headers of the response declare. */
  protocol?: string;
}

const chunkSize = 256 * 1024;

export const isUrl = (target: string): boolean => /^https?:\/\//i.test(target);

/** Opens a file, a URL, or standard input (`-`, or no target if it is piped). */
export async function openInput(
  target: string | undefined,
  endpoint: EndpointOptions,
  io: ToolIO,
  protocols?: readonly Protocol[],
): Promise<Input> {
  if (target === undefined || target === '-') {
    if (target === undefined && io.stdin.isTerminal) {
      const fix = 'Give a file or a URL, or pipe a stream: curl -N … | intertie check';
      throw new ToolError('usage', 'No input.', fix);
    }
    return { bytes: io.stdin, label: 'standard input', isLive: false };
  }
  if (isUrl(target)) return requestEndpoint(target, endpoint, io, protocols);
  const { size } = await statFile(target);
  return { bytes: createReadStream(target, { highWaterMark: chunkSize }), label: target, size, isLive: false };
}

/** Whether the text is an address without a scheme, such as `localhost:3000/api/chat`. */
export const isAddress = (text: string): boolean => /^(?:[\w.-]+:\d+|localhost)(?:\/|$)/.test(text);

async function statFile(path: string): Promise<{ size: number }> {
  let found;
  try {
    found = await stat(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new ToolError('unreadable', `Cannot read ${path}: ${message}`);
    if (isAddress(path))
      throw new ToolError(
        'unreadable',
        `The file ${path} does not exist.`,
        `If it is an address, write http://${path}`,
      );
    const near = nearest(basename(path), await readdir(dirname(path)).catch(() => []));
    const folder = path.slice(0, path.length - basename(path).length);
    const fix = near === undefined ? undefined : `Did you mean ${folder}${near}?`;
    throw new ToolError('unreadable', `The file ${path} does not exist.`, fix);
  }
  if (found.isDirectory()) throw new ToolError('unreadable', `${path} is a folder.`, 'Give a file in it.');
  return { size: found.size };
}
