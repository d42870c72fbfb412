import * as ai6 from 'ai';
import * as ai7 from 'ai-7';
import type { UIMessageVersion } from '../src/ui-message-stream/chunk/ui-message-chunk.ts';

export type AnyUIMessage = { id: string; role: string; metadata?: unknown; parts: Array<Record<string, unknown>> };
export type Reduced = {
  /** The message after the last chunk that was taken. */
  message: AnyUIMessage | undefined;
  /** The index of the chunk at which the reducer threw. */
  thrownAt: number | undefined;
  thrown: unknown;
  /** Texts of `error` chunks. */
  errors: string[];
};

/** What the real reducer of that major makes of a list of chunks. */
export async function reduceUIChunks(
  version: UIMessageVersion,
  chunks: readonly unknown[],
  message?: AnyUIMessage,
): Promise<Reduced> {
  const reduced: Reduced = { message, thrownAt: undefined, thrown: undefined, errors: [] };
  let read = -1;
  /** Streams read ahead; that the reducer has come to a chunk shows when it asks for the type. */
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
  // The reducer changes the message that it goes on with.
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

/** The verdict of that major's schema. */
export async function isValidChunk(version: UIMessageVersion, value: unknown): Promise<boolean> {
  const result = await schemas[version].validate!(value);
  return result.success;
}
