import type { Readable, Writable } from 'node:stream';
import { OutputClosed } from './tool-error.ts';

/** Text output. A returned promise is backpressure. Throws or rejects with `OutputClosed` after the reader has left. */
export interface Sink {
  write(text: string): Promise<void> | void;
  readonly isTerminal: boolean;
  readonly columns: number;
}

/** Everything that a tool uses of its process, so that tests can replace it. */
export interface ToolIO {
  stdin: AsyncIterable<Uint8Array> & { isTerminal: boolean };
  stdout: Sink;
  stderr: Sink;
  fetch: typeof globalThis.fetch;
  env: { readonly [name: string]: string | undefined };
  now: () => number;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

const defaultColumns = 100;

type NodeOutput = Writable & { isTTY?: boolean; columns?: number };

export function nodeSink(stream: NodeOutput): Sink {
  let failure: Error | undefined;
  let waiting: Array<() => void> = [];
  const settle = (): void => {
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  };
  stream.on('drain', settle);
  stream.on('error', (error: NodeJS.ErrnoException) => {
    failure = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED' ? new OutputClosed() : error;
    settle();
  });
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns ?? defaultColumns;
    },
    write(text) {
      if (failure) throw failure;
      if (text === '' || stream.write(text)) return undefined;
      return new Promise<void>((resolve, reject) => {
        waiting.push(() => (failure ? reject(failure) : resolve()));
      });
    },
  };
}

type NodeInput = Readable & { isTTY?: boolean };

/** Creates the IO of this process. The caller provides the signal, because `chat` handles Ctrl-C itself. */
export function nodeIO(signal: AbortSignal): ToolIO {
  const stdin: NodeInput = process.stdin;
  return {
    stdin: { isTerminal: stdin.isTTY === true, [Symbol.asyncIterator]: () => stdin[Symbol.asyncIterator]() },
    stdout: nodeSink(process.stdout),
    stderr: nodeSink(process.stderr),
    fetch: globalThis.fetch,
    env: process.env,
    now: Date.now,
    signal,
  };
}
