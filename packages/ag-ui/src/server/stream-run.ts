import { toReadableStream, type AgentEvent, type Emit, type Encoder, type ServedRun } from '@intertie/core';
import { pullStream } from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import type { AGUIOpenState } from '../encode/ag-ui-encoder-options.ts';
import { toMetadata } from '../shared/intertie-metadata.ts';

export interface StreamRunOptions {
  encoder: Encoder<AGUIEvent, AGUIOpenState>;
  /** Ids that the client uses for the run. They differ from the run's own after an answer. */
  clientIds: { runId: string; parentRunId?: string };
  /** Replaces blob URLs by URLs or bytes that the client can use. */
  resolveFiles: (events: readonly AgentEvent[]) => Promise<readonly AgentEvent[]>;
  /** For a client that joins: the events so far, and the messages before them. Absent: from the start. */
  join?: { events: readonly AgentEvent[]; open(): Promise<Omit<AGUIOpenState, 'events'>> };
}

/**
 * Streams a durable run as AG-UI events, read on demand. Cancelling the stream does not stop the run. The stream errors if the
 * run cannot be followed any further, because a normal end would look like the end of the run.
 */
export function streamRun(
  { run: { threadId, messageId }, follow }: Pick<ServedRun, 'run' | 'follow'>,
  { encoder, clientIds, resolveFiles, join }: StreamRunOptions,
): ReadableStream<AGUIEvent> {
  const reader = follow().getReader();
  let hasBegun = false;
  let hasJoined = join === undefined;
  let enqueue: Emit<AGUIEvent>;

  const emit = (event: AGUIEvent): void => enqueue(withMessageId(event, messageId));

  const prepareEvent = (event: AgentEvent): AgentEvent => {
    hasBegun = true;
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
    const { done, value } = await reader.read();
    if (done) throw new Error('The run can no longer be followed. Connect again.');
    if (value.type === 'events') return encode(value.events);
    if (value.type !== 'ended') throw new Error('The log of the run was rewritten. Connect again.');
    // The run was stopped before it started.
    if (!hasBegun) await encode([{ type: 'run-start', ...clientIds, threadId, messageId }]);
    return encode([value.event]);
  };

  const close = (): Promise<void> => reader.cancel().catch(() => undefined);

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
