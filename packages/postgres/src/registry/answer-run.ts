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
import { answeredId, isAnswerTo, isSameAnswer, readAnswer } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { transact } from '../transact.ts';
import { cleanText } from './clean-text.ts';
import { continuationOf, continueRun, readContinuation } from './continue-run.ts';
import { decisionsOfRun, isAnswered, isOpen, type DecisionRow } from './decision-row.ts';
import type { RegistryContext } from './registry-context.ts';
import { changeMessage, contentOf, isKept } from './run-message.ts';
import { isUntouched, ownershipOf, type RunRow } from './run-record.ts';
import { lockThreadOf, nextVersion } from './thread-lock.ts';

type Accepted = { id: string; answer: Answer | ToolAnswer; by: string | undefined };

/** Each decision is answered once; with the last one of a paused run, the run goes on. */
export function answerRun(
  context: RegistryContext,
  scope: Scope,
  key: RunKey,
  request: AnswerRequest,
): Promise<AnswerResult | null> {
  return transact(context.database, context.hints, async (sql, tell) => {
    const run = await lockThreadOf(sql, key, scope);
    if (!run) return null;
    const continuation = run.isLive ? undefined : await readContinuation(sql, run, request.continuation);
    const answers = request.answers.map((answer) => readAnswer(answer));
    const decisions = await decisionsOfRun(sql, key);
    const accepted: Accepted[] = [];
    const verdicts = answers.map((answer) => judge(decisions, accepted, answer, request.by));
    await writeAnswers(sql, key, accepted);
    const after = accepted.length > 0 ? await decisionsOfRun(sql, key) : decisions;
    const open = after.filter((row) => isOpen(row) && !row.isOverdue).map(({ decision }) => decision);
    if (!continuation) {
      // The owner alone writes the message of a live run. `finish` applies what it has not seen.
      if (accepted.length > 0) tell({ type: 'answer', run: key });
      return { verdicts, open, live: true };
    }
    const live = false;
    const next = await continuationOf(sql, run);
    if (next) return { verdicts, open: [], continuation: earlierContinuation(next, continuation), live };
    const goesOn = isAnswered(run.record.outcome, after) && (await isKept(sql, run));
    if (accepted.length === 0 && !goesOn) return { verdicts, open, live };
    const version = await nextVersion(sql, tell, run);
    if (accepted.length > 0) {
      let content = await contentOf(sql, run);
      for (const { answer } of accepted) content = applyAnswer(content, answer);
      await changeMessage(sql, run, { content }, version);
    }
    if (!goesOn) return { verdicts, open, live };
    const made = await continueRun(context, sql, run, continuation, version);
    return { verdicts, open: [], continuation: made, live };
  });
}

/** The continuation that an earlier call made, with its ownership if this is that call repeated. */
function earlierContinuation(
  next: RunRow,
  { runId, process }: Continuation,
): NonNullable<AnswerResult['continuation']> {
  const created = next.record.runId === runId;
  const ownership = created && isUntouched(next, process) && { ownership: ownershipOf(next) };
  return { run: next.record, created, ...ownership };
}

function judge(
  decisions: readonly DecisionRow[],
  accepted: Accepted[],
  answer: Answer | ToolAnswer,
  by: string | undefined,
): AnswerVerdict {
  const id = answeredId(answer);
  const row = decisions.find(({ request }) => isAnswerTo(request, answer));
  if (!row) return { id, result: 'unknown' };
  const { state, answeredBy, answeredAt } = row.decision;
  if (row.isOverdue) return { id, result: 'expired' };
  if (state === 'cancelled' || state === 'expired') return { id, result: state };
  // In one call, too, the first answer counts.
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
