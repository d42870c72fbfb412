import type { Sink, ToolIO } from '../src/cli/tool-io.ts';

export interface BufferSink extends Sink {
  readonly text: string;
}

export function bufferSink(options: { isTerminal?: boolean; columns?: number } = {}): BufferSink {
  const { isTerminal = false, columns = 100 } = options;
  const chunks: string[] = [];
  return {
    isTerminal,
    columns,
    write: (text) => void chunks.push(text),
    get text() {
      return chunks.join('');
    },
  };
}

export type TestIO = ToolIO & { stdout: BufferSink; stderr: BufferSink };

export interface TestIOOptions extends Partial<Omit<ToolIO, 'stdin' | 'stdout' | 'stderr'>> {
  /** Standard input. */
  input?: string | Uint8Array | Iterable<Uint8Array | string>;
  stdout?: BufferSink;
  stderr?: BufferSink;
  isTerminal?: boolean;
}

/** Creates the IO of a tool in memory. */
export function testIO({ input = '', isTerminal = false, ...rest }: TestIOOptions = {}): TestIO {
  const chunks = typeof input === 'string' || input instanceof Uint8Array ? [input] : input;
  const encoder = new TextEncoder();
  return {
    stdin: {
      isTerminal,
      async *[Symbol.asyncIterator]() {
        for (const chunk of chunks) yield typeof chunk === 'string' ? encoder.encode(chunk) : chunk;
      },
    },
    stdout: bufferSink({ isTerminal }),
    stderr: bufferSink({ isTerminal }),
    fetch: globalThis.fetch,
    env: {},
    now: () => 1_800_000_000_000,
    signal: new AbortController().signal,
    ...rest,
  };
}
