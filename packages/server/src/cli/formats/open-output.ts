import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { ToolError } from '../tool-error.ts';
import { nodeSink, type Sink, type ToolIO } from '../tool-io.ts';

/** Opens a file, or standard output. */
export async function openOutput(
  file: string | undefined,
  io: ToolIO,
): Promise<{ sink: Sink; close(): Promise<void> }> {
  if (file === undefined || file === '-') return { sink: io.stdout, close: async () => undefined };
  const stream = createWriteStream(file);
  try {
    await once(stream, 'open');
  } catch (error) {
    throw new ToolError('usage', `Cannot write ${file}: ${(error as Error).message}`);
  }
  return {
    sink: nodeSink(stream),
    async close() {
      stream.end();
      await once(stream, 'close');
    },
  };
}
