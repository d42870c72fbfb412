import {
  MessageList,
  readBlobUrl,
  type AgentEvent,
  type Emit,
  type EventOf,
  type Fault,
  type ServedRun,
  type Store,
} from '@intertie/core';
import { toPublicEvent } from '@intertie/core/http';
import { encodeBase64, type Followed } from '@intertie/core/internal';
import { expired } from './openai-error.ts';
import { unfoldResponse } from './unfold-response.ts';

/** Encoder of one response. Both APIs have one. */
export interface ResponseEncoder<Out> {
  start(emit: Emit<Out>): void;
  feed(event: AgentEvent, emit: Emit<Out>): void;
  readonly isOver: boolean;
}

export type FollowResponseOptions<Out> = {
  encoder: ResponseEncoder<Out>;
  /** Number of the last event before the response, if the run waited in its process there. Default: 0. */
  from: number;
  store: Pick<Store, 'blobs' | 'scope' | 'getMessage'>;
  errorText?: ((error: Fault) => string) | undefined;
};

/**
 * Encodes the events of a run as one response. A response ends with its run, or where the run waits for an answer inside its
 * process: the events after the answer belong to the next response.
 */
export class ResponseFollower<Out> {
  #run: ServedRun['run'];
  #options: FollowResponseOptions<Out>;
  /** Events of the responses before this one. */
  #earlier = new MessageList();
  #asked = new Set<string>();
  #hasBegun = false;

  constructor({ run }: Pick<ServedRun, 'run'>, options: FollowResponseOptions<Out>) {
    this.#run = run;
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#options.encoder.isOver;
  }

  start(emit: Emit<Out>): void {
    this.#options.encoder.start(emit);
  }

  async feed(followed: Followed, emit: Emit<Out>): Promise<void> {
    switch (followed.type) {
      case 'events':
        return this.feedEvents(followed.events, followed.position.seq, emit);
      case 'ended':
        // The run was stopped before it started.
        if (!this.#hasBegun) this.#encode(this.#createRunStart(), emit);
        return this.#encode(followed.event, emit);
      case 'dropped':
        return this.#feedStored(emit);
      case 'reset':
        // Sent events cannot be retracted. The client reconnects.
        throw new Error(`The log of run ${this.#run.runId} was rewritten while it was read.`);
    }
  }

  /** Encodes events of the log. `last` is the number of the last one. */
  async feedEvents(events: readonly AgentEvent[], last: number, emit: Emit<Out>): Promise<void> {
    const { from } = this.#options;
    const first = last - events.length + 1;
    for (const [index, event] of events.entries()) {
      if (this.isOver) return;
      const seq = first + index;
      if (seq > from) this.#handle(event.type === 'file' ? await this.#resolveFile(event) : event, emit);
      else {
        this.#earlier.feed(event);
        if (seq === from) this.#resume(emit);
      }
    }
  }

  /** Ends the response of a run that waits inside its process. */
  wait(emit: Emit<Out>): void {
    const waitingFor = Array.from(this.#asked, (questionId) => ({ type: 'question' as const, questionId }));
    this.#encode({ type: 'run-end', outcome: 'paused', waitingFor }, emit);
  }

  #handle(event: AgentEvent, emit: Emit<Out>): void {
    if (event.type === 'question' && !event.automatic) this.#asked.add(event.questionId);
    if (event.type === 'answer' && this.#asked.has(event.questionId)) return this.wait(emit);
    this.#encode(event, emit);
  }

  #encode(event: AgentEvent, emit: Emit<Out>): void {
    this.#hasBegun = true;
    const { encoder, errorText } = this.#options;
    encoder.feed(toPublicEvent(event, { runId: this.#run.runId, errorText }), emit);
  }

  /** Starts with the message so far as the baseline. */
  #resume(emit: Emit<Out>): void {
    this.#encode(this.#createRunStart(), emit);
    const { message } = this.#earlier;
    if (message) this.#encode({ type: 'message-snapshot', content: message.content }, emit);
  }

  #createRunStart(): EventOf<'run-start'> {
    const { runId, threadId, messageId } = this.#run;
    return { type: 'run-start', runId, threadId, messageId };
  }

  /** The log was dropped after its retention time. The stored message has the answer. */
  async #feedStored(emit: Emit<Out>): Promise<void> {
    const { threadId, messageId, runId } = this.#run;
    const stored = await this.#options.store.getMessage({ threadId, messageId });
    if (stored === null) throw new Error(`Message ${messageId} of run ${runId} was deleted.`);
    const events = unfoldResponse(stored, await this.#run.record());
    const last = this.#options.from > 0 ? findOnlyAnswer(events) : 0;
    if (last === undefined) throw expired();
    for (const [index, event] of events.entries()) {
      if (this.isOver) return;
      if (index >= last) this.#handle(event.type === 'file' ? await this.#resolveFile(event) : event, emit);
      else {
        this.#earlier.feed(event);
        if (index === last - 1) this.#resume(emit);
      }
    }
  }

  /** Responses contain the bytes of images. */
  async #resolveFile(event: EventOf<'file'>): Promise<AgentEvent> {
    const sha256 = event.url === undefined ? undefined : readBlobUrl(event.url);
    if (sha256 === undefined) return event;
    const { blobs, scope } = this.#options.store;
    const bytes = await blobs.get(scope, sha256);
    if (bytes === null) return event;
    const { url: _, ...rest } = event;
    return { ...rest, data: encodeBase64(new Uint8Array(await new Response(bytes).arrayBuffer())) } as AgentEvent;
  }
}

/**
 * Finds the end of the first response of a run that waited in its process. Returns undefined if it waited several times: a message
 * does not record where in the log each response began.
 */
function findOnlyAnswer(events: readonly AgentEvent[]): number | undefined {
  const answers = events.flatMap(({ type }, index) => (type === 'answer' ? [index + 1] : []));
  return answers.length === 1 ? answers[0] : undefined;
}
