import type { Message } from '@ag-ui/core';
import {
  RunRefusedError,
  unfold,
  type DurableAgent,
  type DurableRun,
  type Encoder,
  type ServedRun,
} from '@intertie/core';
import { resolveFileUrls, type FileUrl } from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import type { AGUIOpenState } from '../encode/ag-ui-encoder-options.ts';
import { StoredBranch } from './stored-branch.ts';
import { streamRun, streamWritten, type StreamRunOptions } from './stream-run.ts';
import type { ToAGUIMessagesOptions } from '../encode/to-ag-ui-messages.ts';

export interface JoinRunOptions extends Omit<StreamRunOptions, 'join'> {
  /** How stored messages are encoded. */
  messageOptions: ToAGUIMessagesOptions;
  /** Messages that the client has, if it sent any. */
  known?: readonly Message[];
  fileUrl?: FileUrl;
}

/**
 * Streams a run to a client that may have missed some or all of it: the branch as a snapshot, open parts reopened, then live
 * events. For an ended run: the current branch and the run's terminal event.
 */
export async function joinRun(
  agent: DurableAgent,
  served: ServedRun,
  options: JoinRunOptions,
): Promise<ReadableStream<AGUIEvent>> {
  const { run, isEnded } = served;
  const past = isEnded ? null : await served.catchUp();
  if (past === null) return streamEnded(agent, run, options);
  const { threadId, messageId } = run;
  const { messageOptions, known, fileUrl } = options;
  const open = async (): Promise<Omit<AGUIOpenState, 'events'>> => {
    const branch = await agent.store.listMessages({ threadId, leafId: messageId });
    const before = await resolveFileUrls(branch.slice(0, -1), agent.store, fileUrl);
    const { messages: history, unattached } = new StoredBranch(before, messageOptions);
    return { history, unattached, ...(known && { known }) };
  };
  return streamRun({ run, follow: past.follow }, { ...options, join: { events: past.events, open } });
}

async function streamEnded(
  { store }: DurableAgent,
  { threadId, messageId }: DurableRun,
  { encoder, clientIds, messageOptions, known, fileUrl }: JoinRunOptions,
): Promise<ReadableStream<AGUIEvent>> {
  const active = await store.listMessages({ threadId });
  const isActive = active.some(({ id }) => id === messageId);
  const found = isActive ? active : await store.listMessages({ threadId, leafId: messageId });
  const branch = await resolveFileUrls(found, store, fileUrl);
  const message = branch.find(({ id }) => id === messageId);
  if (message === undefined) throw new RunRefusedError({ code: 'not-found', what: 'run' });
  const events = unfold(message);
  for (const event of events) if (event.type === 'run-start') Object.assign(event, clientIds);
  const { messages: history, unattached } = new StoredBranch(branch, messageOptions);
  return streamStored(encoder, { history, unattached, events, ...(known && { known }) });
}

/** Streams a snapshot of messages that will not change any more. */
export function streamStored(
  encoder: Encoder<AGUIEvent, AGUIOpenState>,
  state: AGUIOpenState,
): ReadableStream<AGUIEvent> {
  return streamWritten((emit) => {
    encoder.open?.(state, emit);
    encoder.end({ reason: 'eof' }, emit);
  });
}
