import { MessageList, type AgentEvent, type Encoder, type EventOf, type Fault } from '@intertie/core';
import type { LogPosition } from '@intertie/core/store';
import { toPublicEvent, toPublicFault, type FaultView } from '@intertie/core/http';
import { showBlobs, type BlobUrl } from './blob-files.ts';
import { chatEnd } from './chat-end.ts';
import type { ChatEncoderOptions } from './chat-run.ts';
import { createUIMessageEncoder } from '../../ui-message-stream/encode/encode-ui-message-stream.ts';
import { OpenQuestions } from './open-questions.ts';
import { omit } from '../../shared/read-fields.ts';
import { formatRunCursor, type RunCursor } from '../run-cursor.ts';
import type { UIMessageChunk } from '../../ui-message-stream/chunk/ui-message-chunk.ts';
import { toUIMessageFrame } from '../../ui-message-stream/sse/ui-message-sse.ts';
import { validateUIMessageChunk } from '../../ui-message-stream/chunk/validate-ui-message-chunk.ts';

export interface RunFramesOptions extends ChatEncoderOptions {
  /** Whether the reader has the message that a continuation goes on with, or is told all of it. */
  baseline: 'assume' | 'restate';
  /** Text of an error for the page. Default: a generic sentence with the run id. */
  errorText?: (error: Fault) => string;
  /** The reader has the message up to this event of the run, where it waited. Default: 0, nothing of it. */
  from?: number;
  /** Where the page reads files that the store keeps. Default: as the store calls them, which no browser understands. */
  blobUrl?: BlobUrl;
  /** What the reader has: nothing up to here is written again. */
  after?: RunCursor;
  /** Where the run may wait inside its process: the stream is over when it does, but not at a place that it has left. */
  waits?: { tail: number; answered: readonly string[] };
}

/** Which encoder writes the frames, with which options, from where on: the same name, the same frames. */
export function framesName({ baseline, from = 0, ...options }: RunFramesOptions): string {
  const { version, optionsKey } = createUIMessageEncoder(encoderOptions({ baseline, ...options }));
  return `ui${version}-${optionsKey}${from === 0 ? '' : `@${from}`}`;
}

/**
 * The events of a run as the frames of its message, each with its place in the log. A pure function of the events: whoever
 * reads them again, and from wherever, gets the same frames.
 */
export class RunFrames {
  readonly #options: RunFramesOptions;
  readonly #name: string;
  readonly #encoder: Encoder<UIMessageChunk>;
  readonly #questions: OpenQuestions;
  /** Of a reader that has a part of the run: that part. */
  readonly #before = new MessageList();
  #text = '';
  #position: LogPosition | undefined;
  #k = 0;
  #start: EventOf<'run-start'> | undefined;
  #isOver = false;
  #invalid: Fault | undefined;

  constructor(options: RunFramesOptions) {
    this.#options = options;
    this.#name = framesName(options);
    this.#encoder = createUIMessageEncoder(encoderOptions(options));
    this.#questions = new OpenQuestions(options.waits?.answered);
  }

  get hasStarted(): boolean {
    return this.#start !== undefined;
  }

  /** The message is over: nothing more is written. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** What has been written since. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  /** Without a position it is not from the log, and nobody can go on behind it. */
  feed(event: AgentEvent, position?: LogPosition): void {
    if (this.#isOver) return;
    this.#position = position;
    this.#k = 0;
    if (event.type === 'run-start') this.#start ??= event;
    this.#questions.see(event);
    const { from = 0 } = this.#options;
    if (position === undefined || position.seq > from) this.#write(event);
    else {
      this.#before.feed(event);
      if (position.seq === from) this.#goOn();
    }
    this.#pauseIfWaiting();
  }

  /** The reader has all that came so far. */
  #goOn(): void {
    const { message } = this.#before;
    if (this.#start === undefined || message === undefined) return;
    this.#write({ ...this.#start, resumes: this.#start.runId });
    this.#write({ type: 'message-snapshot', content: message.content });
  }

  #write(event: AgentEvent): void {
    if (event.type === 'run-end') return this.#end(event);
    const { blobUrl } = this.#options;
    this.#encode(blobUrl ? showBlobs(event, blobUrl) : event);
    if (this.#invalid === undefined) return;
    const error = toPublicFault(this.#invalid, this.#view);
    this.#isOver = true;
    this.#encoder.end({ reason: 'error', error }, this.#emit);
  }

  #end(event: EventOf<'run-end'>, seq?: number): void {
    const { from = 0 } = this.#options;
    const isContinuation = from > 0 || this.#start?.resumes !== undefined;
    this.#isOver = true;
    for (const said of chatEnd(event, { isContinuation, ...(seq !== undefined && { seq }) })) this.#encode(said);
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

  #pauseIfWaiting(): void {
    const { waits, from = 0 } = this.#options;
    const seq = this.#position?.seq;
    if (this.#isOver || waits === undefined || seq === undefined || seq < Math.max(from, waits.tail)) return;
    const { waitingFor } = this.#questions;
    if (waitingFor.length > 0) this.#end({ type: 'run-end', outcome: 'paused', waitingFor }, seq);
  }

  #emit = (chunk: UIMessageChunk): void => {
    const problem = validateUIMessageChunk(chunk, this.#options.version ?? 6);
    if (problem !== undefined) {
      const what = `The run cannot be shown: its chunk "${chunk.type}" is wrong`;
      this.#invalid ??= { message: `${what} at "${problem.path}": ${problem.message}.`, code: 'invalid-chunk' };
      return;
    }
    const k = this.#k;
    this.#k += 1;
    const position = this.#position;
    if (position === undefined) this.#text += toUIMessageFrame(chunk);
    else if (!this.#isKnown(position, k)) {
      this.#text += toUIMessageFrame(chunk, formatRunCursor(this.#name, position, k));
    }
  };

  #isKnown({ seq }: LogPosition, k: number): boolean {
    const { after } = this.#options;
    if (after === undefined) return false;
    return seq < after.position.seq || (seq === after.position.seq && k <= after.k);
  }
}

function encoderOptions(options: RunFramesOptions): Parameters<typeof createUIMessageEncoder>[0] {
  const encoding = omit(options, 'errorText', 'from', 'after', 'waits', 'blobUrl');
  return encoding;
}
