import { applyAnswer } from '../../message/apply-answer.ts';
import type { Answer } from '../../event/part-body.ts';
import type { AnswerRequest, AnswerResult, AnswerVerdict, Continuation } from '../registry.ts';
import type { ToolAnswer } from '../../event/tool-result.ts';
import { isAnswerTo, judgeAnswer, readAnswer } from '../rules/decision-rules.ts';
import { continueRun, readContinuation } from './continue-run.ts';
import { changeMessage, nextVersion } from './conversation.ts';
import { toDecision, isAnswered, isOpen, isOverdue, settleDecision } from './decision-row.ts';
import { isUntouched, toOwnership, toRunRecord } from './run-row.ts';
import type { RunRow, Tables } from './tables.ts';

/** Applies answers to a run. Each decision is answered once; the last answer to a paused run creates its continuation. */
export function answerRun(tables: Tables, run: RunRow, request: AnswerRequest): AnswerResult {
  const continuation = run.live ? undefined : readContinuation(run, request.continuation);
  const answers = request.answers.map((answer) => readAnswer(answer));
  const accepted: Array<Answer | ToolAnswer> = [];
  const verdicts = answers.map((answer) => {
    const verdict = acceptAnswer(tables, run, answer, request.by);
    if (verdict.result === 'accepted') accepted.push(answer);
    return verdict;
  });
  if (!continuation) {
    // Only its owner writes the message of a live run. `finish` applies the answers that the owner has not seen.
    if (accepted.length > 0) tables.hints.publish({ type: 'answer', run: run.key });
    return { verdicts, open: listOpenDecisions(tables, run), live: true };
  }
  const live = false;
  if (run.continuation)
    return { verdicts, open: [], continuation: toEarlierContinuation(run.continuation, continuation), live };
  const isComplete = isAnswered(run);
  if (accepted.length === 0 && !isComplete) return { verdicts, open: listOpenDecisions(tables, run), live };
  const version = nextVersion(tables, run.thread);
  let { content } = run.message.message;
  for (const answer of accepted) content = applyAnswer(content, answer);
  changeMessage(run.message, { content }, version);
  if (!isComplete) return { verdicts, open: listOpenDecisions(tables, run), live };
  return { verdicts, open: [], continuation: continueRun(tables, run, continuation, version), live };
}

/** Returns the continuation of an earlier call, with its ownership if this call repeats that one. */
function toEarlierContinuation(
  next: RunRow,
  { runId, process }: Continuation,
): NonNullable<AnswerResult['continuation']> {
  const created = next.runId === runId;
  const ownership = created && isUntouched(next, process) && { ownership: toOwnership(next) };
  return { run: toRunRecord(next), created, ...ownership };
}

function acceptAnswer(tables: Tables, run: RunRow, answer: Answer | ToolAnswer, by: string | undefined): AnswerVerdict {
  const row = [...run.decisions.values()].find(({ request }) => isAnswerTo(request, answer));
  const verdict = judgeAnswer(answer, row && toDecision(row), row !== undefined && isOverdue(tables, row));
  if (!row || verdict.result !== 'accepted') return verdict;
  const answeredBy = by ?? ('questionId' in answer ? answer.by : undefined);
  settleDecision(tables, row, 'answered');
  row.answer = answer;
  row.answeredAt = tables.now();
  if (answeredBy !== undefined) row.answeredBy = answeredBy;
  return verdict;
}

function listOpenDecisions(tables: Tables, run: RunRow): AnswerResult['open'] {
  return [...run.decisions.values()].filter((row) => isOpen(row) && !isOverdue(tables, row)).map(toDecision);
}
