import type { Message } from '@ag-ui/core';
import {
  RunRefusedError,
  unfold,
  type AgentEvent,
  type DurableAgent,
  type DurableRun,
  type Encoder,
  type RunRecord,
} from '@intertie/core';
import type { LogPosition, RunKey, RunLog } from '@intertie/core/store';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import type { AGUIOpenState } from '../encode/ag-ui-encoder-options.ts';
import { StoredBranch } from './stored-branch.ts';
import { resolveFileUrls, type FileUrl } from './resolve-file-urls.ts';
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
  run: DurableRun,
  options: JoinRunOptions,
): Promise<ReadableStream<AGUIEvent>> {
  const record = await run.record();
  if (!isLive(record)) return streamEnded(agent, record, options);
  const { events, position, dropped } = await readLog(agent.store.log, record.key);
  if (dropped) return streamEnded(agent, record, options);
  const { threadId, messageId } = record;
  const { messageOptions, known, fileUrl } = options;
  const open = async (): Promise<Omit<AGUIOpenState, 'events'>> => {
    const branch = await agent.store.listMessages({ threadId, leafId: messageId });
    const before = await resolveFileUrls(branch.slice(0, -1), agent.store, fileUrl);
    const { messages: history, unattached } = new StoredBranch(before, messageOptions);
    return { history, unattached, ...(known && { known }) };
  };
  return streamRun(run, { ...options, join: { events, position, open } });
}

/** Follows a paused and answered run to the run that continues it. Returns other runs unchanged. */
export async function findCurrentRun(agent: DurableAgent, run: DurableRun): Promise<DurableRun> {
  const record = await run.record();
  if (record.state !== 'paused') return run;
  const { registry, scope } = agent.store;
  const runs = await registry.listRuns(scope, { threadId: record.threadId });
  const next = runs.find(({ resumes }) => resumes === record.key);
  const found = next && (await agent.find({ runId: next.runId, threadId: next.threadId }));
  return found ? findCurrentRun(agent, found) : run;
}

function isLive({ state }: RunRecord): boolean {
  return state === 'queued' || state === 'running';
}

async function streamEnded(
  { store }: DurableAgent,
  { threadId, messageId }: RunRecord,
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

/** Reads the log of a run up to its current end. */
async function readLog(
  log: RunLog,
  run: RunKey,
): Promise<{ events: AgentEvent[]; position: LogPosition; dropped: boolean }> {
  const events: AgentEvent[] = [];
  let position: LogPosition = { epoch: 0, seq: 0 };
  for (;;) {
    const page = await log.read(run, position);
    if (page.dropped) return { events, position, dropped: true };
    // A takeover rewrote this part of the log: start over.
    if (!page.valid) events.length = 0;
    events.push(...page.events);
    position = page.valid ? page.position : { epoch: 0, seq: 0 };
    if (page.valid && position.seq >= page.tail) return { events, position, dropped: false };
  }
}
