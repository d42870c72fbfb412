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

/** The same words from whoever recovers it: a second recovery finds the first one's result. */
const lost: End = {
  reason: 'error',
  error: { message: 'The process that ran it is gone. What it had written is kept.', code: 'lost' },
};

/**
 * Ends a run whose process is gone: its log is folded, what is open is closed, and the run ends as an error, code `lost`,
 * unless another end is given. If its own end is in the log already, that one counts. No model is called, and no tool runs.
 * It can be done any number of times, by anyone who owns the run: the log is the same.
 */
export async function recoverRun(
  store: Store,
  { run, epoch, nextSeq }: Ownership,
  end: End = lost,
): Promise<FinishResult> {
  const [logged, message] = await Promise.all([
    readLog(store.log, run.key),
    store.forScope(run.scope).getMessage({ threadId: run.threadId, messageId: run.messageId }),
  ]);
  const baseline = message ?? emptyMessage(run);
  const closing = await close(store, run, baseline, logged, end);
  const list = new MessageList({ messages: [baseline] });
  for (const event of [...logged, ...closing]) list.feed(event);
  const folded = list.message ?? baseline;
  const { outcome, usage } = endOf([...logged, ...closing]);
  return store.registry.finish(run.key, epoch, {
    nextSeq,
    events: closing,
    outcome,
    content: folded.content,
    decisions: collectDecisions(outcome, folded.content),
    ...(usage && { usage }),
    ...(folded.state !== undefined && { state: folded.state }),
    ...(folded.sourceState !== undefined && { sourceState: folded.sourceState }),
  });
}

async function readLog(log: RunLog, run: RunKey): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  let position: LogPosition = { epoch: 0, seq: 0 };
  for (;;) {
    const page = await log.read(run, position);
    for (const event of page.events) events.push(event);
    if (page.position.seq >= page.tail || page.events.length === 0) return events;
    position = page.position;
  }
}

/** What the log lacks: of a run that has not even begun, the beginning too. */
async function close(
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
  );
  for (const event of logged) codec.feed(event, () => {});
  const closing: AgentEvent[] = [];
  codec.end(end, (event) => void closing.push(event));
  return closing;
}

function endOf(events: readonly AgentEvent[]): { outcome: Outcome; usage?: EventOf<'run-end'>['usage'] } {
  const end = events.find((event) => event.type === 'run-end')!;
  const { usage } = end;
  return { outcome: toOutcome(end), ...(usage && { usage }) };
}

/** Where the placeholder is gone, finish will refuse; until then there is something to fold into. */
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
