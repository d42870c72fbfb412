import {
  unfold,
  type AgentEvent,
  type CanonicalMessage,
  type DurableAgent,
  type Encoder,
  type ServedRun,
} from '@intertie/core';
import { unfoldContent, resolveFileUrls, type FileUrl } from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { streamRun, streamWritten, withMessageId, type StreamRunOptions } from './stream-run.ts';

export interface ReplayRunOptions extends Omit<StreamRunOptions, 'join'> {
  fileUrl?: FileUrl;
}

/** Streams the message of a run from its start, for clients that restore whole messages. Returns null if it was deleted. */
export async function replayRun(
  { store }: DurableAgent,
  served: ServedRun,
  { fileUrl, ...options }: ReplayRunOptions,
): Promise<ReadableStream<AGUIEvent> | null> {
  if (!served.isEnded) {
    const unfoldEvents = unfoldBaseline();
    return streamRun(served, { ...options, resolveFiles: (events) => options.resolveFiles(unfoldEvents(events)) });
  }
  const { threadId, messageId } = served.run;
  const stored = await store.getMessage({ threadId, messageId });
  const [message] = await resolveFileUrls(stored ? [stored] : [], store, fileUrl);
  return message ? replayStored(options.encoder, message) : null;
}

/** Replaces the baseline snapshot of a continuation by the events that produce it. Stateful: pass the events in order. */
function unfoldBaseline(): (events: readonly AgentEvent[]) => readonly AgentEvent[] {
  let position: 'before' | 'start' | 'running' = 'before';
  const unfoldEvent = (event: AgentEvent): readonly AgentEvent[] => {
    const isBaseline = position === 'start' && event.type === 'message-snapshot';
    position = event.type === 'run-start' ? 'start' : 'running';
    return isBaseline ? unfoldContent(event.content) : [event];
  };
  return (events) => (position === 'running' ? events : events.flatMap(unfoldEvent));
}

function replayStored(encoder: Encoder<AGUIEvent>, message: CanonicalMessage): ReadableStream<AGUIEvent> {
  return streamWritten((write) => {
    const emit = (event: AGUIEvent): void => write(withMessageId(event, message.id));
    for (const event of unfold(message)) encoder.feed(event, emit);
    encoder.end({ reason: 'eof' }, emit);
  });
}
