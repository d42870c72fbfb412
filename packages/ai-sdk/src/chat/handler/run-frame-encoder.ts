import { MessageList, type AgentEvent, type Encoder, type EventOf, type Fault } from '@intertie/core';
import type { LogPosition } from '@intertie/core/store';
import { toPublicEvent, toPublicFault, type FaultView } from '@intertie/core/http';
import { toBrowserUrls, type BlobUrl } from './blob-urls.ts';
import { toRunEndEvents } from './run-end-events.ts';
import type { ChatEncoderOptions } from './run-chat.ts';
import { createUIMessageEncoder } from '../../ui-message-stream/encode/encode-ui-message-stream.ts';
import { omit } from '../../shared/read-fields.ts';
import { formatRunCursor, type RunCursor } from '../run-cursor.ts';
import type { UIMessageChunk } from '../../ui-message-stream/chunk/ui-message-chunk.ts';
import { toUIMessageFrame } from '../../ui-message-stream/sse/ui-message-sse.ts';
import { validateUIMessageChunk } from '../../ui-message-stream/chunk/validate-ui-message-chunk.ts';

export interface RunFrameEncoderOptions extends ChatEncoderOptions {
  /** Whether the reader already has the message that the run continues (`assume`) or receives all of it (`restate`). */
  baseline: 'assume' | 'restate';
  /** Text of an error for the client. Default: a generic sentence with the run id. */
  errorText?: (error: Fault) => string;
  /** Sequence number up to which the reader has the run, because the run waited there. Default: 0. */
  from?: number;
  /** Browser URL of a stored blob. Default: the store's own URL, which no browser can read. */
  blobUrl?: BlobUrl;
  /** Cursor of the last frame that the reader has. Frames up to it are skipped. */
  after?: RunCursor;
}

/** Identifies encoder, options and starting point in a cursor: equal ids produce equal frames. */
export function getEncoderId({ baseline, from = 0, ...options }: RunFrameEncoderOptions): string {
  const { version, optionsKey } = createUIMessageEncoder(toEncoderOptions({ baseline, ...options }));
  return `ui${version}-${optionsKey}${from === 0 ? '' : `@${from}`}`;
}

/**
 * Encodes the events of a run as SSE frames whose ids are cursors into the run log. The frames depend only on the events, so
 * a stream can be resumed after any of them.
 */
export class RunFrameEncoder {
  readonly #options: RunFrameEncoderOptions;
  readonly #encoderId: string;
  readonly #encoder: Encoder<UIMessageChunk>;
  /** Events up to `from`, which the reader already has. */
  readonly #delivered = new MessageList();
  #text = '';
  #position: LogPosition | undefined;
  #k = 0;
  #start: EventOf<'run-start'> | undefined;
  #isOver = false;
  #invalid: Fault | undefined;

  constructor(options: RunFrameEncoderOptions) {
    this.#options = options;
    this.#encoderId = getEncoderId(options);
    this.#encoder = createUIMessageEncoder(toEncoderOptions(options));
  }

  get hasStarted(): boolean {
    return this.#start !== undefined;
  }

  /** Whether the message has ended. Later events are ignored. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns the frames since the last call. */
  flush(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  /** Encodes an event. Without a position it is not in the log, and its frames get no cursor. */
  feed(event: AgentEvent, position?: LogPosition): void {
    if (this.#isOver) return;
    this.#position = position;
    this.#k = 0;
    if (event.type === 'run-start') this.#start ??= event;
    const { from = 0 } = this.#options;
    if (position === undefined || position.seq > from) this.#write(event);
    else {
      this.#delivered.feed(event);
      if (position.seq === from) this.#resume();
    }
  }

  /** Ends the message of a run that waits in its process after the last event. The next stream starts there. */
  wait(event: EventOf<'run-end'>): void {
    if (!this.#isOver) this.#end(event, this.#position?.seq);
  }

  /** Starts a continuation of the part that the reader has. */
  #resume(): void {
    const { message } = this.#delivered;
    if (this.#start === undefined || message === undefined) return;
    this.#write({ ...this.#start, resumes: this.#start.runId });
    this.#write({ type: 'message-snapshot', content: message.content });
  }

  #write(event: AgentEvent): void {
    if (event.type === 'run-end') return this.#end(event);
    const { blobUrl } = this.#options;
    this.#encode(blobUrl ? toBrowserUrls(event, blobUrl) : event);
    if (this.#invalid === undefined) return;
    const error = toPublicFault(this.#invalid, this.#view);
    this.#isOver = true;
    this.#encoder.end({ reason: 'error', error }, this.#emit);
  }

  #end(event: EventOf<'run-end'>, seq?: number): void {
    const { from = 0 } = this.#options;
    const isContinuation = from > 0 || this.#start?.resumes !== undefined;
    this.#isOver = true;
    const options = { isContinuation, ...(seq !== undefined && { seq }) };
    for (const endEvent of toRunEndEvents(event, options)) this.#encode(endEvent);
    // The last chunk of the encoder was invalid.
    if (this.#invalid === undefined) return;
    this.#emit({ type: 'error', errorText: toPublicFault(this.#invalid, this.#view).message });
  }

  #encode(event: AgentEvent): void {
    this.#encoder.feed(toPublicEvent(event, this.#view), this.#emit);
  }

  get #view(): FaultView {
    return { runId: this.#start?.runId, errorText: this.#options.errorText };
  }

  #emit = (chunk: UIMessageChunk): void => {
    const problem = validateUIMessageChunk(chunk, this.#options.version ?? 6);
    if (problem !== undefined) {
      const what = `The run cannot be shown: its chunk "${chunk.type}" is invalid`;
      this.#invalid ??= { message: `${what} at "${problem.path}": ${problem.message}.`, code: 'invalid-chunk' };
      return;
    }
    const k = this.#k;
    this.#k += 1;
    const position = this.#position;
    if (position === undefined) this.#text += toUIMessageFrame(chunk);
    else if (!this.#wasDelivered(position, k)) {
      this.#text += toUIMessageFrame(chunk, formatRunCursor(this.#encoderId, position, k));
    }
  };

  #wasDelivered({ seq }: LogPosition, k: number): boolean {
    const { after } = this.#options;
    if (after === undefined) return false;
    return seq < after.position.seq || (seq === after.position.seq && k <= after.k);
  }
}

function toEncoderOptions(options: RunFrameEncoderOptions): Parameters<typeof createUIMessageEncoder>[0] {
  return omit(options, 'errorText', 'from', 'after', 'blobUrl');
}
