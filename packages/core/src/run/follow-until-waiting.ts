import type { AgentEvent } from '../event/event.ts';
import type { LogPosition } from '../store/run-log.ts';
import { pause } from '../stream/pause.ts';
import { pullStream } from '../stream/pull-stream.ts';
import type { DurableAgent, DurableRun } from './durable-agent.ts';
import type { Followed } from './follow-run.ts';
import { OpenQuestions } from './open-questions.ts';

/** Time without events after which a run with open questions counts as waiting. Parallel work may still write until then. */
const quietMs = 100;

/**
 * Follows a run that may wait for answers inside its process (`pauses: 'live'`). A client answers after its stream has ended, so
 * the stream ends like that of a paused run as soon as the run waits. `past` are the events up to `after`.
 */
export function followUntilWaiting(
  { store }: DurableAgent,
  run: DurableRun,
  after?: LogPosition,
  past: readonly AgentEvent[] = [],
): ReadableStream<Followed> {
  const { registry, log, scope } = store;
  const reader = run.follow(after).getReader();
  const questions = new OpenQuestions();
  const closed = new AbortController();
  let seq = after?.seq ?? 0;
  let tail: number | undefined;
  let pendingRead: Promise<ReadableStreamReadResult<Followed>> | undefined;
  for (const event of past) questions.observe(event);

  /** Whether the run waits for a question that is open in the store. The reader first gets all events that exist already. */
  const waits = async (): Promise<boolean> => {
    if (questions.waitingFor.length === 0) return false;
    const { key } = await run.record();
    tail ??= ((await log.positions([key])).get(key)?.next ?? 1) - 1;
    if (seq < tail || (await Promise.race([pendingRead, pause(quietMs, closed.signal)]))) return false;
    const open = await registry.listDecisions(scope, { run: key, state: 'open' });
    const ids = new Set(open.map(({ id }) => id));
    for (const { questionId } of questions.waitingFor) if (!ids.has(questionId)) questions.answer(questionId);
    return questions.waitingFor.length > 0;
  };

  const close = async (reason?: unknown): Promise<void> => {
    closed.abort();
    pendingRead?.catch(() => undefined);
    await reader.cancel(reason);
  };

  return pullStream<Followed>({
    async pull(emit) {
      pendingRead ??= reader.read();
      if (await waits()) {
        const { waitingFor } = questions;
        emit({ type: 'ended', event: { type: 'run-end', outcome: 'paused', waitingFor }, isWaiting: true });
        void close().catch(() => undefined);
        return false;
      }
      const { done, value } = await pendingRead;
      pendingRead = undefined;
      if (done) return false;
      if (value.type === 'events') {
        for (const event of value.events) questions.observe(event);
        ({ seq } = value.position);
      }
      emit(value);
      return true;
    },
    cancel: close,
  });
}
