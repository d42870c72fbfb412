import { toFault, type AgentEvent, type Codec, type Fault } from '@intertie/core';
import type { AGUIEvent } from './ag-ui-event.ts';
import type { MoreWords } from './more-words.ts';

/**
 * Events that are read when somebody asks for them. Called back and not awaited: a promise or a stream between two codecs
 * costs more than the codecs do, so what is around them is one of the skins (`generateAGUI`, `streamFeed`, `writeAGUISSE`).
 */
export interface EventFeed {
  /** Before anything is read, once. There may be events already. */
  open(sink: EventSink): void;
  /** Reads on, as long as the sink says that it wants more. Not again before that. */
  read(): void;
  /** Nobody listens any more. */
  leave(reason: unknown): void | Promise<void>;
}

export interface EventSink {
  event(event: AGUIEvent): void;
  /** The event that these words would be, for a sink that has no need of it. They are kept already. */
  more?: (delta: string, words: MoreWords) => void;
  /** Something has been read, whether it made an event or not. Whether to read on. */
  ready(): boolean;
  /** Everything was said. May come unasked: a run can be stopped. */
  end(): void;
  /** It cannot be read any further. */
  fail(error: unknown): void;
}

/** The events of a stream. */
export function feedOf(events: ReadableStream<AGUIEvent>): EventFeed {
  const reader = events.getReader();
  let sink: EventSink;
  const read = async (): Promise<void> => {
    do {
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      const { done, value } = await reader.read();
      if (done) return sink.end();
      sink.event(value);
    } while (sink.ready());
  };
  return {
    open: (own) => void (sink = own),
    read: () => void read().catch((error: unknown) => sink.fail(error)),
    leave: (reason) => reader.cancel(reason),
  };
}

/** Canonical events through an encoder. Never fails: it ends with the terminal event, and who leaves it cancels the run. */
export function encodedFeed(
  events: ReadableStream<AgentEvent>,
  encoder: Codec<AgentEvent, AGUIEvent>,
  onLeave: (reason: unknown) => void,
): EventFeed {
  const reader = events.getReader();
  let sink: EventSink;
  let isOver = false;
  const emit = (event: AGUIEvent): void => sink.event(event);
  const finish = (error?: Fault): void => {
    isOver = true;
    encoder.end(error ? { reason: 'error', error } : { reason: 'eof' }, emit);
    sink.end();
  };
  const drop = (): void => void reader.cancel().catch(() => undefined);
  const fail = (error: unknown): void => {
    if (isOver) return;
    finish(toFault(error, 'ADAPTER_ERROR'));
    drop();
  };
  const read = async (): Promise<void> => {
    do {
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      const { done, value } = await reader.read();
      if (isOver) return;
      if (done) return finish();
      encoder.feed(value, emit);
    } while (sink.ready());
  };
  return {
    open: (own) => void (sink = own),
    read: () => void read().catch(fail),
    leave(reason) {
      isOver = true;
      onLeave(reason);
      return reader.cancel(reason);
    },
  };
}
