import type { AgentEvent, DurableRun, Encoder } from '@intertie/core';
import { pause, type Followed } from '@intertie/core/internal';
import type { LogPosition } from '@intertie/core/store';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import type { AGUIOpenState } from '../encode/ag-ui-encoder-options.ts';
import { slot } from '../shared/intertie-metadata.ts';

export interface TellRunOptions {
  encoder: Encoder<AGUIEvent, AGUIOpenState>;
  /** The client's name for the run, where it is not the run's own: what goes on after an answer has another. */
  named: { runId: string; parentRunId?: string };
  /** Whether the run waits for answers inside its process. To a client a run that waits is over until it answers. */
  waitsInside: boolean;
  /** The events with their files as a client can have them. */
  showFiles: (events: readonly AgentEvent[]) => Promise<readonly AgentEvent[]>;
  /**
   * For a client that joins: the events so far, their position, and what it is told before them. Without it, the run is
   * told from its beginning.
   */
  joins?: { events: readonly AgentEvent[]; position: LogPosition; open(): Promise<Omit<AGUIOpenState, 'events'>> };
}

/** How long to wait before looking whether a run that has asked something waits for the answer. */
const lookMs = 100;

/**
 * A run that is kept, as AG-UI events, read on demand. Who leaves it leaves the run alone. It fails where the run cannot be
 * read any further: that is not the end of the run, and a client must not take it for one.
 */
export function tellRun(run: DurableRun, options: TellRunOptions): ReadableStream<AGUIEvent> {
  const { encoder, named, waitsInside, showFiles, joins } = options;
  const { threadId, messageId } = run;
  const gone = new AbortController();
  const reader = run.follow(joins?.position).getReader();
  const asked = new Set<string>();
  let awaited: Promise<ReadableStreamReadResult<Followed>> | undefined;
  let hasBegun = false;
  let isOpen = joins === undefined;
  let isEmpty = true;
  let isOver = false;
  let controller: ReadableStreamDefaultController<AGUIEvent>;

  const emit = (event: AGUIEvent): void => {
    isEmpty = false;
    controller.enqueue(withMessageId(event, messageId));
  };

  const mayWait = (): boolean => waitsInside && asked.size > 0;

  /** What comes next, or that the run waits for somebody. */
  const next = async (): Promise<ReadableStreamReadResult<Followed> | 'waits'> => {
    awaited ??= reader.read();
    let looks = 0;
    while (mayWait()) {
      // oxlint-disable-next-line no-await-in-loop -- a run does not say when it begins to wait
      const first = await Promise.race([awaited, pause(lookMs, gone.signal)]);
      if (first) break;
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      looks = (await run.record()).waiting ? looks + 1 : 0;
      // Twice, so that what it said before it waited has come.
      if (looks > 1) return 'waits';
    }
    const result = await awaited;
    awaited = undefined;
    return result;
  };

  const renamed = (event: AgentEvent): AgentEvent => {
    hasBegun = true;
    if (event.type === 'question') asked.add(event.questionId);
    if (event.type === 'answer') asked.delete(event.questionId);
    return event.type === 'run-start' ? { ...event, ...named } : event;
  };

  /** Whether that was the last word. */
  const tell = async (written: readonly AgentEvent[]): Promise<boolean> => {
    const events = await showFiles(written);
    if (isOpen || joins === undefined) for (const event of events) encoder.feed(renamed(event), emit);
    else {
      isOpen = true;
      const state = await joins.open();
      encoder.open?.({ ...state, events: events.map(renamed) }, emit);
    }
    return events.at(-1)?.type === 'run-end';
  };

  const step = async (): Promise<boolean> => {
    if (joins && !isOpen && joins.events.length > 0) return tell(joins.events);
    const item = await next();
    if (item === 'waits') {
      const waitingFor = Array.from(asked, (questionId) => ({ type: 'question' as const, questionId }));
      return tell([{ type: 'run-end', outcome: 'paused', waitingFor }]);
    }
    if (item.done) throw new Error('The run cannot be followed any more. Connect again.');
    const { value } = item;
    if (value.type === 'events') return tell(value.events);
    if (value.type !== 'ended') throw new Error('The log of the run is not what it was. Connect again.');
    // Stopped before it began.
    if (!hasBegun) await tell([{ type: 'run-start', ...named, threadId, messageId }]);
    return tell([value.event]);
  };

  const leave = async (): Promise<void> => {
    gone.abort();
    awaited?.catch(() => undefined);
    await reader.cancel().catch(() => undefined);
  };

  const isHungry = (): boolean => isEmpty && !isOver;

  return new ReadableStream<AGUIEvent>(
    {
      start: (own) => void (controller = own),
      async pull() {
        isEmpty = true;
        try {
          // oxlint-disable-next-line no-await-in-loop -- until there is something to give
          while (isHungry()) isOver = await step();
        } catch (error) {
          // A stream that fails is not cancelled by whoever reads it.
          await leave();
          throw error;
        }
        if (!isOver) return;
        controller.close();
        await leave();
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
}

/** The start of a run says which message it writes, for a client that may come back to it. The event is a fresh one. */
export function withMessageId(event: AGUIEvent, messageId: string): AGUIEvent {
  return event.type === 'RUN_STARTED' ? Object.assign(event, slot({ messageId })) : event;
}
