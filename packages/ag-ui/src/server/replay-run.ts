import {
  unfold,
  type AgentEvent,
  type CanonicalMessage,
  type DurableAgent,
  type DurableRun,
  type Encoder,
} from '@intertie/core';
import { unfoldContent } from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { tellFiles, type FileUrl } from './resolve-file-urls.ts';
import { tellRun, withMessageId, type TellRunOptions } from './stream-run.ts';

export interface ReplayRunOptions extends Omit<TellRunOptions, 'joins'> {
  fileUrl?: FileUrl;
  /** How long after its end a run is still told. */
  replayEndedMs?: number;
  now?: () => number;
}

/**
 * The message that a run writes, from its beginning, for a client that keeps messages and not their pieces: while it is
 * written, for a moment after, and as long as it waits for somebody. Null: all that is past.
 */
export async function replayRun(
  { store }: DurableAgent,
  run: DurableRun,
  { fileUrl, replayEndedMs = 60_000, now = Date.now, ...options }: ReplayRunOptions,
): Promise<ReadableStream<AGUIEvent> | null> {
  const { state, endedAt } = await run.record();
  if (state === 'queued' || state === 'running') {
    const apart = unfoldBaseline();
    return tellRun(run, { ...options, showFiles: (events) => options.showFiles(apart(events)) });
  }
  const isFresh = endedAt !== undefined && now() - endedAt.getTime() < replayEndedMs;
  if (!isFresh && state !== 'paused') return null;
  const { threadId, messageId } = run;
  const stored = await store.getMessage({ threadId, messageId });
  const [message] = await tellFiles(stored ? [stored] : [], store, fileUrl);
  return message ? replayStored(options.encoder, message) : null;
}

/** What the run goes on with is taken apart, and told as if it were said now. To be given the events in order. */
function unfoldBaseline(): (events: readonly AgentEvent[]) => readonly AgentEvent[] {
  let place: 'before' | 'start' | 'running' = 'before';
  const apart = (event: AgentEvent): readonly AgentEvent[] => {
    const isBaseline = place === 'start' && event.type === 'message-snapshot';
    place = event.type === 'run-start' ? 'start' : 'running';
    return isBaseline ? unfoldContent(event.content) : [event];
  };
  return (events) => (place === 'running' ? events : events.flatMap(apart));
}

function replayStored(encoder: Encoder<AGUIEvent>, message: CanonicalMessage): ReadableStream<AGUIEvent> {
  return new ReadableStream({
    start(controller) {
      const emit = (event: AGUIEvent): void => controller.enqueue(withMessageId(event, message.id));
      for (const event of unfold(message)) encoder.feed(event, emit);
      encoder.end({ reason: 'eof' }, emit);
      controller.close();
    },
  });
}
