import type { Input } from './open-input.ts';
import { paintFor } from '../paint.ts';
import type { ToolIO } from '../tool-io.ts';

const firstAfterMs = 700;
const everyMs = 200;

/** Shows the progress of a long input on stderr, if it is a terminal. */
export function withProgress({ bytes, size, label }: Input, { stderr, env, now }: ToolIO): AsyncIterable<Uint8Array> {
  if (!stderr.isTerminal) return bytes;
  return {
    async *[Symbol.asyncIterator]() {
      const paint = paintFor(stderr, env);
      const startedAt = now();
      let next = startedAt + firstAfterMs;
      let read = 0;
      let isShown = false;
      try {
        for await (const chunk of bytes) {
          yield chunk;
          read += chunk.byteLength;
          const time = now();
          if (time < next) continue;
          next = time + everyMs;
          isShown = true;
          const part = size ? `${Math.floor((100 * read) / size)} % of ` : '';
          const speed = `${megabytes((1000 * read) / (time - startedAt))}/s`;
          await stderr.write(`\r\u001b[2K${paint('dim', `${label}: ${part}${megabytes(size ?? read)}, ${speed}`)}`);
        }
      } finally {
        if (isShown) await stderr.write('\r\u001b[2K');
      }
    },
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}
