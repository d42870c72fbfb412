import { applyAnswer, type Answer } from '@intertie/core';
import type {
  AnswerRequest,
  AnswerResult,
  AnswerVerdict,
  Continuation,
  RunKey,
  Scope,
  ToolAnswer,
} from '@intertie/core/store';
import { getAnsweredId, isAnswerTo, isSameAnswer, readAnswer } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { transact } from '../transact.ts';
import { cleanText } from './clean-text.ts';
import { findContinuation, continueRun, readContinuation } from './continue-run.ts';
import { selectRunDecisions, isAnswered, isOpen, type DecisionRow } from './decision-row.ts';
import type { RegistryContext } from './registry-context.ts';
import { updateRunMessage, readRunContent, isMessageActive } from './run-message.ts';
import { isUntouched, toOwnership, type RunRow } from './run-record.ts';
import { lockRunThread, nextVersion } from './lock-run-thread.ts';

type Accepted = { id: string; answer: Answer | ToolAnswer; by: string | undefined };

/** Stores each answer once. Continues a paused run when its last decision is answered. */
export function answerRun(
  context: RegistryContext,
  scope: Scope,
  key: RunKey,
  request: AnswerRequest,
): Promise<AnswerResult | null> {
  return transact(context.database, context.hints, async (sql, publish) => {
    const run = await lockRunThread(sql, key, scope);
    if (!run) return null;
    const continuation = run.isLive ? undefined : await readContinuation(sql, run, request.continuation);
    const answers = request.answers.map((answer) => readAnswer(answer));
    const decisions = await selectRunDecisions(sql, key);
    const accepted: Accepted[] = [];
    const verdicts = answers.map((answer) => judgeAnswer(decisions, accepted, answer, request.by));
    await writeAnswers(sql, key, accepted);
    const after = accepted.length > 0 ? await selectRunDecisions(sql, key) : decisions;
    const open = after.filter((row) => isOpen(row) && !row.isOverdue).map(({ decision }) => decision);
    if (!continuation) {
      // Only the owner writes the message of a live run. `finishRun` applies answers that the owner has not seen.
      if (accepted.length > 0) publish({ type: 'answer', run: key });
      return { verdicts, open, live: true };
    }
    const live = false;
    const next = await findContinuation(sql, run);
    if (next) return { verdicts, open: [], continuation: toEarlierContinuation(next, continuation), live };
    const shouldContinue = isAnswered(run.record.outcome, after) && (await isMessageActive(sql, run));
    if (accepted.length === 0 && !shouldContinue) return { verdicts, open, live };
    const version = await nextVersion(sql, publish, run);
    if (accepted.length > 0) {
      let content = await readRunContent(sql, run);
      for (const { answer } of accepted) content = applyAnswer(content, answer);
      await updateRunMessage(sql, run, { content }, version);
    }
    if (!shouldContinue) return { verdicts, open, live };
    const created = await continueRun(context, sql, run, continuation, version);
    return { verdicts, open: [], continuation: created, live };
  });
}

/** Continuation of an earlier call, with its ownership if this call repeats that one. */
function toEarlierContinuation(
  next: RunRow,
  { runId, process }: Continuation,
): NonNullable<AnswerResult['continuation']> {
  const created = next.record.runId === runId;
  const ownership = created && isUntouched(next, process) && { ownership: toOwnership(next) };
  return { run: next.record, created, ...ownership };
}

function judgeAnswer(
  decisions: readonly DecisionRow[],
  accepted: Accepted[],
  answer: Answer | ToolAnswer,
  by: string | undefined,
): AnswerVerdict {
  const id = getAnsweredId(answer);
  const row = decisions.find(({ request }) => isAnswerTo(request, answer));
  if (!row) return { id, result: 'unknown' };
  const { state, answeredBy, answeredAt } = row.decision;
  if (row.isOverdue) return { id, result: 'expired' };
  if (state === 'cancelled' || state === 'expired') return { id, result: state };
  // The first answer wins, also within one call.
  const earlier = accepted.find((each) => each.id === row.request.id);
  const given = earlier?.answer ?? row.decision.answer;
  if (given) {
    if (isSameAnswer(given, answer)) return { id, result: 'duplicate' };
    const who = earlier ? earlier.by : answeredBy;
    return {
      id,
      result: 'conflict',
      ...(who !== undefined && { answeredBy: who }),
      ...(answeredAt !== undefined && { answeredAt }),
    };
  }
  accepted.push({ id: row.request.id, answer, by: by ?? ('questionId' in answer ? answer.by : undefined) });
  return { id, result: 'accepted' };
}

async function writeAnswers(sql: Sql, run: RunKey, accepted: readonly Accepted[]): Promise<void> {
  if (accepted.length === 0) return;
  await sql.query(
    `update intertie.decisions d
      set state = 'answered', answer = v.answer::json, answered_by = v.answered_by, answered_at = now()
      from unnest($2::text[], $3::text[], $4::text[]) v(id, answer, answered_by)
      where d.run_id = $1::text::uuid and d.id = v.id and d.state = 'open'`,
    [
      run,
      accepted.map(({ id }) => id),
      accepted.map(({ answer }) => JSON.stringify(answer)),
      accepted.map(({ by }) => (by === undefined ? null : cleanText(by))),
    ],
  );
}
