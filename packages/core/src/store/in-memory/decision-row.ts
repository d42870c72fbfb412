import { applyAnswer } from '../../message/apply-answer.ts';
import type { MessageContent } from '../../event/message.ts';
import { isLostRun } from '../../event/outcome.ts';
import type { Decision, DecisionRequest } from '../registry.ts';
import { isAwaited } from '../rules/decision-rules.ts';
import { changeMessage } from './conversation.ts';
import type { DecisionRow, RunRow, Tables } from './tables.ts';

/** Opens decisions of a run. Decisions that exist already stay as they are. */
export function openDecisions(tables: Tables, run: RunRow, requests: readonly DecisionRequest[]): void {
  for (const request of requests) {
    if (run.decisions.has(request.id)) continue;
    const row: DecisionRow = { run, request, state: 'open' };
    run.decisions.set(request.id, row);
    tables.open.add(row);
  }
}

export function settleDecision(tables: Tables, row: DecisionRow, state: 'answered' | 'cancelled' | 'expired'): void {
  row.state = state;
  tables.open.delete(row);
}

export function isOpen(row: DecisionRow): boolean {
  return row.state === 'open';
}

export function isOverdue(tables: Tables, row: DecisionRow): boolean {
  return isOpen(row) && row.request.expiresAt !== undefined && row.request.expiresAt.getTime() <= tables.now();
}

/** Finds the decisions that a paused run waits for. */
function findAwaited(run: RunRow): DecisionRow[] {
  return [...run.decisions.values()].filter(({ request }) => isAwaited(run.outcome, request));
}

/** Whether the run can be continued: it waits for decisions, all of them are answered, and it was not stopped since. */
export function isAnswered(run: RunRow): boolean {
  return isAwaiting(run) && findAwaited(run).every((row) => row.state === 'answered');
}

/** Whether the run waits for decisions, answered or not, and its message is neither deleted nor aborted. */
export function isAwaiting(run: RunRow): boolean {
  const { message, deleted } = run.message;
  return !deleted && message.status !== 'aborted' && findAwaited(run).length > 0;
}

/** Whether an awaited decision was cancelled or has expired, so that the run can never be continued. */
export function hasFailedDecision(run: RunRow): boolean {
  return findAwaited(run).some((row) => row.state === 'cancelled' || row.state === 'expired');
}

/** Settles the decisions that an ended run does not wait for. Those of a lost run expire: it cannot receive answers. */
export function closeDecisions(tables: Tables, run: RunRow): void {
  const awaited = findAwaited(run);
  const settled = isLostRun(run.outcome) ? 'expired' : 'cancelled';
  for (const row of run.decisions.values()) {
    if (isOpen(row) && !awaited.includes(row)) settleDecision(tables, row, settled);
  }
}

/**
 * Gives up a run that waits for decisions: overdue ones expire, the others are cancelled, their questions are answered accordingly,
 * and the message is aborted. Calls of client tools are not settled here; readers derive that they never will be.
 */
export function abandonRun(tables: Tables, run: RunRow, reason: string, version: number): Decision[] {
  const open = [...run.decisions.values()].filter(isOpen);
  let { content } = run.message.message;
  for (const row of open) {
    settleDecision(tables, row, isOverdue(tables, row) ? 'expired' : 'cancelled');
    if (row.request.kind === 'client-tool') continue;
    content = applyAnswer(content, { questionId: row.request.question.questionId, cancelled: true, reason });
  }
  changeMessage(run.message, { content, status: 'aborted' }, version);
  return open.map(toDecision);
}

/** Applies all answers of the run to the content. Answers that it holds already stay. */
export function withAnswers(run: RunRow, content: MessageContent): MessageContent {
  let answered = content;
  for (const { answer } of run.decisions.values()) if (answer) answered = applyAnswer(answered, answer);
  return answered;
}

export function toDecision(row: DecisionRow): Decision {
  const { run } = row;
  return {
    ...structuredClone(row.request),
    run: run.key,
    runId: run.runId,
    threadId: run.thread.id,
    messageId: run.message.message.id,
    state: row.state,
    ...(row.answer && { answer: structuredClone(row.answer) }),
    ...(row.answeredBy !== undefined && { answeredBy: row.answeredBy }),
    ...(row.answeredAt !== undefined && { answeredAt: new Date(row.answeredAt) }),
  };
}
