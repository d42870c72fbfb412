import { createParser } from 'eventsource-parser';
import { parseWireJson } from '../../shared/parse-wire-json.ts';
import { RepeatedDeltaParser } from './repeated-delta-parser.ts';
import type { UIMessageChunkOf, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import { validateUIMessageChunk } from '../chunk/validate-ui-message-chunk.ts';

/** The headers of a UI message stream, as `createUIMessageStreamResponse` sends them. */
export const uiMessageStreamHeaders: Readonly<Record<string, string>> = Object.freeze({
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-vercel-ai-ui-message-stream': 'v1',
  // Or nginx collects the stream before it passes it on.
  'x-accel-buffering': 'no',
});

/** The last frame. Readers skip it; only `finish`, `abort` or `error` says that the message is over. */
export const doneFrame = 'data: [DONE]\n\n';
/** A comment, so that proxies do not take a silent stream for a dead one. */
export const keepAliveFrame = ': keep-alive\n\n';

/** A chunk as one event. The id is the cursor of readers that resume; it must not have line breaks. */
export function toUIMessageFrame(chunk: object, id?: string): string {
  return id === undefined ? `data: ${JSON.stringify(chunk)}\n\n` : `id: ${id}\ndata: ${JSON.stringify(chunk)}\n\n`;
}

/** Something in the bytes that is no chunk. A chat cannot go on after it. */
export class UIMessageSSEError extends Error {
  readonly type: 'json' | 'chunk' | 'size' | 'incomplete';
  /** The event's data, or its beginning. */
  readonly data: string;

  constructor(type: UIMessageSSEError['type'], message: string, data: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UIMessageSSEError';
    this.type = type;
    this.data = data;
  }
}

export interface UIMessageSSEParserOptions<Version extends UIMessageVersion = UIMessageVersion> {
  /** Which chunks are taken. Default: 6. */
  version?: Version;
  /** `id` is the event's, where it has one. */
  onChunk: (chunk: UIMessageChunkOf<Version>, id: string | undefined) => void;
  /** If absent, the error is thrown. */
  onError?: (error: UIMessageSSEError) => void;
  /** Every comment is a sign of life. */
  onComment?: (comment: string) => void;
  /** How much of one event is held, in characters. Default: 32 million. */
  maxEventSize?: number;
}

export interface UIMessageSSEParser {
  feed(bytes: Uint8Array): void;
  /** The bytes are over. An event without the empty line that ends it was cut off. */
  end(): void;
}

const defaultMaxEventSize = 32_000_000;
/** How much of what was wrong an error shows. */
const shownLength = 200;

/** Reads the bytes of a UI message stream: events in, validated chunks out, in the same turn. */
export function createUIMessageSSEParser<Version extends UIMessageVersion = 6>(
  options: UIMessageSSEParserOptions<Version>,
): UIMessageSSEParser {
  const { onChunk, onComment, maxEventSize = defaultMaxEventSize } = options;
  const version: UIMessageVersion = options.version ?? 6;
  const decoder = new TextDecoder();
  const repeated = new RepeatedDeltaParser();
  let isOver = false;
  let isBroken = false;

  const fail = (type: UIMessageSSEError['type'], message: string, data: string, cause?: unknown): void => {
    const shown = data.length > shownLength ? `${data.slice(0, shownLength)}…` : data;
    const error = new UIMessageSSEError(type, message, shown, cause === undefined ? undefined : { cause });
    if (options.onError) options.onError(error);
    else throw error;
  };

  const pass = (chunk: UIMessageChunkOf<Version>, data: string, id: string | undefined): void => {
    if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') repeated.remember(chunk, data);
    onChunk(chunk, id);
  };

  const parser = createParser({
    maxBufferSize: maxEventSize,
    onComment,
    onEvent: ({ data, id }) => {
      if (data === '[DONE]') return;
      if (isOver) {
        return fail('incomplete', 'The stream ended inside an event: the empty line after it is missing.', data);
      }
      const delta = repeated.parse(data);
      if (delta !== undefined) return onChunk(delta, id);
      let chunk: unknown;
      try {
        chunk = parseWireJson(data);
      } catch (error) {
        return fail('json', 'An event of the UI message stream is not JSON. Is it another stream?', data, error);
      }
      const problem = validateUIMessageChunk(chunk, version);
      if (problem === undefined) return pass(chunk as UIMessageChunkOf<Version>, data, id);
      const place = problem.path === '' ? '' : ` at "${problem.path}"`;
      fail('chunk', `An event is no UI message chunk of ai ${version}${place}: ${problem.message}.`, data);
    },
    onError: (error) => {
      // Unknown fields and bad retry times are passed over, as the specification of event streams says.
      if (error.type !== 'max-buffer-size-exceeded') return;
      isBroken = true;
      fail('size', `An event is longer than ${maxEventSize} characters. Raise maxEventSize if it should be.`, '');
    },
  });

  return {
    feed: (bytes) => {
      if (isBroken) return;
      parser.feed(decoder.decode(bytes, { stream: true }));
    },
    end: () => {
      if (isBroken) return;
      const rest = decoder.decode();
      if (rest !== '') parser.feed(rest);
      // Whatever an empty line completes now was cut off.
      isOver = true;
      parser.feed('\n\n');
    },
  };
}
