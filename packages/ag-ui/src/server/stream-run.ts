import { toReadableStream, type AgentEvent, type DurableRun, type Emit, type Encoder } from '@intertie/core';
import { pause, pullStream, type Followed } from '@intertie/core/internal';
import type { LogPosition } from '@intertie/core/store';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import type { AGUIOpenState } from '../encode/ag-ui-encoder-options.ts';
import { toMetadata } from '../shared/intertie-metadata.ts';

export interface StreamRunOptions {
  encoder: Encoder<AGUIEvent, AGUIOpenState>;
  /** Ids that the client uses for the run. They differ from the run's own after an answer. */
  clientIds: { runId: string; parentRunId?: string };
  /** Whether the run waits for answers inside its process. For the client, a waiting run has ended until it answers. */
  pausesLive: boolean;
  /** Replaces blob URLs by URLs or bytes that the client can use. */
  resolveFiles: (events: readonly AgentEvent[]) => Promise<readonly AgentEvent[]>;
  /** For a client that joins: the events so far, their position, and the messages before them. Absent: from the start. */
  join?: { events: readonly AgentEvent[]; position: LogPosition; open(): Promise<Omit<AGUIOpenState, 'events'>> };
}

/** Interval at which a run with open questions is checked for waiting. */
const waitCheckMs = 100;

/**
 * Streams a durable run as AG-UI events, read on demand. Cancelling the stream does not stop the run. The stream errors if the
 * run cannot be followed any further, because a normal end would look like the end of the run.
 */
export function streamRun(run: DurableRun, options: StreamRunOptions): ReadableStream<AGUIEvent> {
  const { encoder, clientIds, pausesLive, resolveFiles, join } = options;
  const { threadId, messageId } = run;
  const closed = new AbortController();
  const reader = run.follow(join?.position).getReader();
  const openQuestions = new Set<string>();
  let pendingRead: Promise<ReadableStreamReadResult<Followed>> | undefined;
  let hasBegun = false;
  let hasJoined = join === undefined;
  let enqueue: Emit<AGUIEvent>;

  const emit = (event: AGUIEvent): void => enqueue(withMessageId(event, messageId));

  const hasOpenQuestions = (): boolean => pausesLive && openQuestions.size > 0;

  /** Returns the next events, or `waits` if the run waits for an answer. */
  const next = async (): Promise<ReadableStreamReadResult<Followed> | 'waits'> => {
    pendingRead ??= reader.read();
    let waitChecks = 0;
    // A run does not report when it starts to wait, so its record is polled.
    while (hasOpenQuestions()) {
      const first = await Promise.race([pendingRead, pause(waitCheckMs, closed.signal)]);
      if (first) break;
      waitChecks = (await run.record()).waiting ? waitChecks + 1 : 0;
      // Checked twice, so that events written before the wait have arrived.
      if (waitChecks > 1) return 'waits';
    }
    const result = await pendingRead;
    pendingRead = undefined;
    return result;
  };

  const prepareEvent = (event: AgentEvent): AgentEvent => {
    hasBegun = true;
    if (event.type === 'question') openQuestions.add(event.questionId);
    if (event.type === 'answer') openQuestions.delete(event.questionId);
    return event.type === 'run-start' ? { ...event, ...clientIds } : event;
  };

  /** Encodes events of the log. Returns whether they end the run. */
  const encode = async (logged: readonly AgentEvent[]): Promise<boolean> => {
    const events = await resolveFiles(logged);
    if (hasJoined || join === undefined) for (const event of events) encoder.feed(prepareEvent(event), emit);
    else {
      hasJoined = true;
      const state = await join.open();
      encoder.open?.({ ...state, events: events.map(prepareEvent) }, emit);
    }
    return events.at(-1)?.type === 'run-end';
  };

  const encodeNext = async (): Promise<boolean> => {
    if (join && !hasJoined && join.events.length > 0) return encode(join.events);
    const followed = await next();
    if (followed === 'waits') {
      const waitingFor = Array.from(openQuestions, (questionId) => ({ type: 'question' as const, questionId }));
      return encode([{ type: 'run-end', outcome: 'paused', waitingFor }]);
    }
    if (followed.done) throw new Error('The run can no longer be followed. Connect again.');
    const { value } = followed;
    if (value.type === 'events') return encode(value.events);
    if (value.type !== 'ended') throw new Error('The log of the run was rewritten. Connect again.');
    // The run was stopped before it started.
    if (!hasBegun) await encode([{ type: 'run-start', ...clientIds, threadId, messageId }]);
    return encode([value.event]);
  };

  const close = async (): Promise<void> => {
    closed.abort();
    pendingRead?.catch(() => undefined);
    await reader.cancel().catch(() => undefined);
  };

  return pullStream<AGUIEvent>({
    start: (own) => void (enqueue = own),
    async pull() {
      const isOver = await encodeNext();
      if (isOver) await close();
      return !isOver;
    },
    cancel: close,
  });
}

/** Creates a stream of the events that `write` emits. */
export function streamWritten(write: (emit: Emit<AGUIEvent>) => void): ReadableStream<AGUIEvent> {
  const events: AGUIEvent[] = [];
  write((event) => void events.push(event));
  return toReadableStream(events);
}

/** Adds the message id to RUN_STARTED, so that a client can resume the message. Mutates the event. */
export function withMessageId(event: AGUIEvent, messageId: string): AGUIEvent {
  return event.type === 'RUN_STARTED' ? Object.assign(event, toMetadata({ messageId })) : event;
}
