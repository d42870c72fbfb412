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
import { tellFiles, type FileUrl } from './resolve-file-urls.ts';
import { tellRun, type TellRunOptions } from './stream-run.ts';
import type { ToAGUIMessagesOptions } from '../encode/to-ag-ui-messages.ts';

export interface JoinRunOptions extends Omit<TellRunOptions, 'joins'> {
  /** How the branch is told. */
  telling: ToAGUIMessagesOptions;
  /** The messages that the client has, if it says so. */
  known?: readonly Message[];
  fileUrl?: FileUrl;
}

/**
 * A run for a client that may have nothing of it, or a part: the whole branch as a snapshot, what is open in it opened again,
 * and the rest as it comes. Of a run that is over, the branch as it is now and how the run ended.
 */
export async function joinRun(
  agent: DurableAgent,
  run: DurableRun,
  options: JoinRunOptions,
): Promise<ReadableStream<AGUIEvent>> {
  const record = await run.record();
  if (!isUnderWay(record)) return tellEnded(agent, record, options);
  const { events, position, dropped } = await readLog(agent.store.log, record.key);
  if (dropped) return tellEnded(agent, record, options);
  const { threadId, messageId } = record;
  const { telling, known, fileUrl } = options;
  const open = async (): Promise<Omit<AGUIOpenState, 'events'>> => {
    const branch = await agent.store.listMessages({ threadId, leafId: messageId });
    const before = await tellFiles(branch.slice(0, -1), agent.store, fileUrl);
    const { told: history, beside } = new StoredBranch(before, telling);
    return { history, beside, ...(known && { known }) };
  };
  return tellRun(run, { ...options, joins: { events, position, open } });
}

/** The run that somebody means who names one: where it was paused and has been answered, the one that goes on. */
export async function currentRun(agent: DurableAgent, run: DurableRun): Promise<DurableRun> {
  const record = await run.record();
  if (record.state !== 'paused') return run;
  const { registry, scope } = agent.store;
  const runs = await registry.listRuns(scope, { threadId: record.threadId });
  const next = runs.find(({ resumes }) => resumes === record.key);
  const found = next && (await agent.find({ runId: next.runId, threadId: next.threadId }));
  return found ? currentRun(agent, found) : run;
}

function isUnderWay({ state }: RunRecord): boolean {
  return state === 'queued' || state === 'running';
}

async function tellEnded(
  { store }: DurableAgent,
  { threadId, messageId }: RunRecord,
  { encoder, named, telling, known, fileUrl }: JoinRunOptions,
): Promise<ReadableStream<AGUIEvent>> {
  const active = await store.listMessages({ threadId });
  const isActive = active.some(({ id }) => id === messageId);
  const found = isActive ? active : await store.listMessages({ threadId, leafId: messageId });
  const branch = await tellFiles(found, store, fileUrl);
  const message = branch.find(({ id }) => id === messageId);
  if (message === undefined) throw new RunRefusedError({ code: 'not-found', what: 'run' });
  const events = unfold(message);
  for (const event of events) if (event.type === 'run-start') Object.assign(event, named);
  const { told: history, beside } = new StoredBranch(branch, telling);
  return tellStored(encoder, { history, beside, events, ...(known && { known }) });
}

/** What nothing is added to any more. */
export function tellStored(
  encoder: Encoder<AGUIEvent, AGUIOpenState>,
  state: AGUIOpenState,
): ReadableStream<AGUIEvent> {
  return new ReadableStream({
    start(controller) {
      encoder.open?.(state, (event) => controller.enqueue(event));
      encoder.end({ reason: 'eof' }, (event) => controller.enqueue(event));
      controller.close();
    },
  });
}

/** The log as far as it is written now. */
async function readLog(
  log: RunLog,
  run: RunKey,
): Promise<{ events: AgentEvent[]; position: LogPosition; dropped: boolean }> {
  const events: AgentEvent[] = [];
  let position: LogPosition = { epoch: 0, seq: 0 };
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one page after the other
    const page = await log.read(run, position);
    if (page.dropped) return { events, position, dropped: true };
    // Another process has written there since: from the beginning.
    if (!page.valid) events.length = 0;
    events.push(...page.events);
    position = page.valid ? page.position : { epoch: 0, seq: 0 };
    if (page.valid && position.seq >= page.tail) return { events, position, dropped: false };
  }
}
