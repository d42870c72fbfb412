import * as ai6 from 'ai';
import * as ai7 from 'ai-7';
import type { UIMessageVersion } from '../src/ui-message-stream/chunk/ui-message-chunk.ts';

export type AnyUIMessage = { id: string; role: string; metadata?: unknown; parts: Array<Record<string, unknown>> };
export type Reduced = {
  /** Message after the last accepted chunk. */
  message: AnyUIMessage | undefined;
  /** Index of the chunk at which the reducer threw. */
  thrownAt: number | undefined;
  thrown: unknown;
  /** Texts of `error` chunks. */
  errors: string[];
};

/** Reduces chunks with the real reducer of the given major. */
export async function reduceUIChunks(
  version: UIMessageVersion,
  chunks: readonly unknown[],
  message?: AnyUIMessage,
): Promise<Reduced> {
  const reduced: Reduced = { message, thrownAt: undefined, thrown: undefined, errors: [] };
  let read = -1;
  /** Streams read ahead, so access to `type` shows which chunk the reducer is processing. */
  const observed = (chunk: unknown, index: number): unknown => {
    const clone = structuredClone(chunk);
    if (typeof clone !== 'object' || clone === null || !('type' in clone)) return clone;
    const { type } = clone;
    const get = (): unknown => {
      read = Math.max(read, index);
      return type;
    };
    return Object.defineProperty(clone, 'type', { get, enumerable: true });
  };
  const stream = new ReadableStream<never>({
    start(controller) {
      for (const [index, chunk] of chunks.entries()) controller.enqueue(observed(chunk, index) as never);
      controller.close();
    },
  });
  // The reducer mutates the message that it continues.
  const baseline = message === undefined ? {} : { message: structuredClone(message) as never };
  const onError = (error: unknown): void => {
    if (error instanceof Error && error.name === 'Error') reduced.errors.push(error.message);
    else {
      reduced.thrown = error;
      reduced.thrownAt = read;
    }
  };
  const options = { stream, onError, ...baseline };
  const messages = version === 6 ? ai6.readUIMessageStream(options) : ai7.readUIMessageStream(options);
  for await (const snapshot of messages) reduced.message = snapshot as unknown as AnyUIMessage;
  return reduced;
}

const schemas = { 6: ai6.uiMessageChunkSchema(), 7: ai7.uiMessageChunkSchema() };

/** Validates a chunk with the schema of the given major. */
export async function isValidChunk(version: UIMessageVersion, value: unknown): Promise<boolean> {
  const result = await schemas[version].validate!(value);
  return result.success;
}
