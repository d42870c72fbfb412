import { createParser } from 'eventsource-parser';
import { parseWireJson } from '../../shared/parse-wire-json.ts';
import { RepeatedDeltaParser } from './repeated-delta-parser.ts';
import type { UIMessageChunkOf, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import { validateUIMessageChunk } from '../chunk/validate-ui-message-chunk.ts';

/** Headers of a UI message stream, as `createUIMessageStreamResponse` sends them. */
export const uiMessageStreamHeaders: Readonly<Record<string, string>> = Object.freeze({
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-vercel-ai-ui-message-stream': 'v1',
  // Prevents nginx from buffering the stream.
  'x-accel-buffering': 'no',
});

/** Last frame. Readers ignore it; only `finish`, `abort` or `error` ends the message. */
export const doneFrame = 'data: [DONE]\n\n';
/** Comment that prevents proxies from closing an idle stream. */
export const keepAliveFrame = ': keep-alive\n\n';

/** Formats a chunk as one SSE event. `id` is the cursor for readers that resume; it must not contain line breaks. */
export function toUIMessageFrame(chunk: object, id?: string): string {
  return id === undefined ? `data: ${JSON.stringify(chunk)}\n\n` : `id: ${id}\ndata: ${JSON.stringify(chunk)}\n\n`;
}

/** Error of a stream that is not a valid UI message stream. A chat cannot continue after it. */
export class UIMessageSSEError extends Error {
  readonly type: 'json' | 'chunk' | 'size' | 'incomplete';
  /** Data of the event, truncated to 200 characters. */
  readonly data: string;

  constructor(type: UIMessageSSEError['type'], message: string, data: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UIMessageSSEError';
    this.type = type;
    this.data = data;
  }
}

export interface UIMessageSSEParserOptions<Version extends UIMessageVersion = UIMessageVersion> {
  /** Major version of `ai` whose chunks are accepted. Default: 6. */
  version?: Version;
  /** Called for each chunk, with the id of its event if it has one. */
  onChunk: (chunk: UIMessageChunkOf<Version>, id: string | undefined) => void;
  /** Called for each error. Default: the error is thrown. */
  onError?: (error: UIMessageSSEError) => void;
  /** Called for each comment, for example to detect that the server is alive. */
  onComment?: (comment: string) => void;
  /** Maximum size of one event in characters. Default: 32 million. */
  maxEventSize?: number;
}

export interface UIMessageSSEParser {
  feed(bytes: Uint8Array): void;
  /** Ends the input. Reports an event without its terminating empty line as incomplete. */
  end(): void;
}

const defaultMaxEventSize = 32_000_000;
/** Maximum length of the data shown in an error. */
const shownLength = 200;

/** Parses the bytes of a UI message stream to validated chunks. Calls `onChunk` synchronously. */
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
        return fail('incomplete', 'The stream ended inside an event: its terminating empty line is missing.', data);
      }
      const delta = repeated.parse(data);
      if (delta !== undefined) return onChunk(delta, id);
      let chunk: unknown;
      try {
        chunk = parseWireJson(data);
      } catch (error) {
        return fail('json', 'Invalid JSON in an event of the UI message stream. Is it another stream?', data, error);
      }
      const problem = validateUIMessageChunk(chunk, version);
      if (problem === undefined) return pass(chunk as UIMessageChunkOf<Version>, data, id);
      const place = problem.path === '' ? '' : ` at "${problem.path}"`;
      fail('chunk', `Invalid UI message chunk of ai ${version}${place}: ${problem.message}.`, data);
    },
    onError: (error) => {
      // The specification of event streams requires to ignore unknown fields and invalid retry times.
      if (error.type !== 'max-buffer-size-exceeded') return;
      isBroken = true;
      fail('size', `An event exceeds ${maxEventSize} characters. Raise maxEventSize if this is expected.`, '');
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
      // An event that is completed only by these line breaks was cut off.
      isOver = true;
      parser.feed('\n\n');
    },
  };
}
