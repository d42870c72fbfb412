import type { Sink, ToolIO } from '../src/cli/tool-io.ts';

export interface HeldSink extends Sink {
  readonly text: string;
}

export function heldSink(options: { isTerminal?: boolean; columns?: number } = {}): HeldSink {
  const { isTerminal = false, columns = 100 } = options;
  const pieces: string[] = [];
  return {
    isTerminal,
    columns,
    write: (text) => void pieces.push(text),
    get text() {
      return pieces.join('');
    },
  };
}

export type TestIO = ToolIO & { stdout: HeldSink; stderr: HeldSink };

export interface TestIOOptions extends Partial<Omit<ToolIO, 'stdin' | 'stdout' | 'stderr'>> {
  /** What is piped in. */
  input?: string | Uint8Array | Iterable<Uint8Array | string>;
  stdout?: HeldSink;
  stderr?: HeldSink;
  isTerminal?: boolean;
}

/** A world for a tool that a test can look at. */
export function testIO({ input = '', isTerminal = false, ...rest }: TestIOOptions = {}): TestIO {
  const pieces = typeof input === 'string' || input instanceof Uint8Array ? [input] : input;
  const encoder = new TextEncoder();
  return {
    stdin: {
      isTerminal,
      async *[Symbol.asyncIterator]() {
        for (const piece of pieces) yield typeof piece === 'string' ? encoder.encode(piece) : piece;
      },
    },
    stdout: heldSink({ isTerminal }),
    stderr: heldSink({ isTerminal }),
    fetch: globalThis.fetch,
    env: {},
    now: () => 1_800_000_000_000,
    signal: new AbortController().signal,
    ...rest,
  };
}
