import { defined } from '../json/fields.ts';
import type { End } from '../codec/codec.ts';
import { collectDecisions } from '../store/collect-decisions.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import type { Store } from '../store/store.ts';
import { MessageList } from '../message/message-list.ts';
import type { CanonicalMessage } from '../event/message.ts';
import type { Outcome } from '../event/outcome.ts';
import { toOutcome } from '../codec/to-outcome.ts';
import type { FinishResult, Ownership, RunRecord } from '../store/registry.ts';
import type { LogPosition, RunKey, RunLog } from '../store/run-log.ts';
import { seal } from '../codec/seal.ts';

/** Constant, so that a repeated recovery finds the result of the first one. */
const lostEnd: End = {
  reason: 'error',
  error: {
    message: 'The process that executed the run is gone. Its output so far is kept. Send the message again.',
    code: 'lost',
  },
};

/**
 * Ends a run whose process is gone: folds its log, closes what is open, and ends the run with the error `lost`, unless another end
 * is given. An end that is already in the log takes precedence. Calls no model and no tool. Every owner of the run can repeat it
 * with the same result.
 */
export async function recoverRun(
  store: Store,
  { run, epoch, nextSeq }: Ownership,
  end: End = lostEnd,
): Promise<FinishResult> {
  const [logged, message] = await Promise.all([
    readLog(store.log, run.key),
    store.forScope(run.scope).getMessage({ threadId: run.threadId, messageId: run.messageId }),
  ]);
  const baseline = message ?? emptyMessage(run);
  const closing = await createClosingEvents(store, run, baseline, logged, end);
  const list = new MessageList({ messages: [baseline] });
  for (const event of [...logged, ...closing]) list.feed(event);
  const folded = list.message ?? baseline;
  const { outcome, usage } = getEnd([...logged, ...closing]);
  return store.registry.finish(run.key, epoch, {
    // An earlier attempt may have written events to a log outside the registry's database before it failed.
    nextSeq: Math.max(nextSeq, logged.length + 1),
    events: closing,
    outcome,
    content: folded.content,
    decisions: collectDecisions(outcome, folded.content),
    ...defined({ usage, state: folded.state, sourceState: folded.sourceState }),
  });
}

/** Reads the complete log of a run. */
export async function readLog(log: RunLog, run: RunKey): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  let position: LogPosition = { epoch: 0, seq: 0 };
  for (;;) {
    const page = await log.read(run, position);
    for (const event of page.events) events.push(event);
    if (page.position.seq >= page.tail || page.events.length === 0) return events;
    position = page.position;
  }
}

/** Creates the events that the log lacks, including `run-start` if the run had not begun. */
async function createClosingEvents(
  store: Store,
  run: RunRecord,
  message: CanonicalMessage,
  logged: readonly AgentEvent[],
  end: End,
): Promise<AgentEvent[]> {
  const resumed = run.resumes && (await store.registry.getRun(run.scope, run.resumes));
  const { runId, threadId, messageId } = run;
  const codec = seal(
    {
      runId,
      threadId,
      messageId,
      ...(message.parentId !== undefined && { parentMessageId: message.parentId }),
      ...(resumed && { resumes: resumed.runId, message: message.content }),
      startedAt: (run.startedAt ?? run.createdAt).getTime(),
      history: [],
      answers: [],
      tools: [],
      context: [],
    },
    () => {},
    { log: logged },
  );
  const closing: AgentEvent[] = [];
  codec.end(end, (event) => void closing.push(event));
  return closing;
}

function getEnd(events: readonly AgentEvent[]): { outcome: Outcome; usage?: EventOf<'run-end'>['usage'] } {
  const end = events.find((event) => event.type === 'run-end')!;
  return { outcome: toOutcome(end), ...defined({ usage: end.usage }) };
}

/** Message to fold into if the placeholder was deleted; `finish` then refuses. */
function emptyMessage(run: RunRecord): CanonicalMessage {
  return {
    id: run.messageId,
    threadId: run.threadId,
    role: 'assistant',
    type: 'text',
    content: { format: 2, parts: [] },
    createdAt: run.createdAt,
  };
}
