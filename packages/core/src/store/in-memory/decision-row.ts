import { applyAnswer } from '../../message/apply-answer.ts';
import type { MessageContent } from '../../event/message.ts';
import type { Decision, DecisionRequest } from '../registry.ts';
import { isAwaited } from '../rules/decision-rules.ts';
import { changeMessage } from './conversation.ts';
import type { DecisionRow, RunRow, Tables } from './tables.ts';

/** What the run asks, guarded from now on. What it has asked before stays as it is. */
export function openDecisions(tables: Tables, run: RunRow, requests: readonly DecisionRequest[]): void {
  for (const request of requests) {
    if (run.decisions.has(request.id)) continue;
    const row: DecisionRow = { run, request, state: 'open' };
    run.decisions.set(request.id, row);
    tables.open.add(row);
  }
}

export function settle(tables: Tables, row: DecisionRow, state: 'answered' | 'cancelled' | 'expired'): void {
  row.state = state;
  tables.open.delete(row);
}

export function isOpen(row: DecisionRow): boolean {
  return row.state === 'open';
}

export function isOverdue(tables: Tables, row: DecisionRow): boolean {
  return isOpen(row) && row.request.expiresAt !== undefined && row.request.expiresAt.getTime() <= tables.now();
}

/** What a paused run waits for, among all that it has asked. */
function awaitedBy(run: RunRow): DecisionRow[] {
  return [...run.decisions.values()].filter(({ request }) => isAwaited(run.outcome, request));
}

/** Whether the run waited for decisions, all of them are answered and nobody has stopped it since: then it goes on. */
export function isAnswered(run: RunRow): boolean {
  return isAwaiting(run) && awaitedBy(run).every((row) => row.state === 'answered');
}

/** Whether the run waits for decisions, answered or not, and its message is still there and not given up. */
export function isAwaiting(run: RunRow): boolean {
  const { message, deleted } = run.message;
  return !deleted && message.status !== 'aborted' && awaitedBy(run).length > 0;
}

/** Whether something that it waits for was cancelled or has expired, so that it can never go on. */
export function isHopeless(run: RunRow): boolean {
  return awaitedBy(run).some((row) => row.state === 'cancelled' || row.state === 'expired');
}

/** The run has ended: what it asked and does not wait for is over. A process that died could not be answered to. */
export function closeDecisions(tables: Tables, run: RunRow): void {
  const awaited = awaitedBy(run);
  const lost = run.outcome?.outcome === 'error' && run.outcome.error.code === 'lost';
  for (const row of run.decisions.values()) {
    if (isOpen(row) && !awaited.includes(row)) settle(tables, row, lost ? 'expired' : 'cancelled');
  }
}

/**
 * The run does not go on. Nobody will answer what it waits for: overdue decisions expire, the others are cancelled, the
 * questions say so, and the message is aborted. Calls of client tools stay unsettled; that is derived, never written.
 */
export function abandon(tables: Tables, run: RunRow, reason: string, version: number): Decision[] {
  const abandoned = [...run.decisions.values()].filter(isOpen);
  let { content } = run.message.message;
  for (const row of abandoned) {
    settle(tables, row, isOverdue(tables, row) ? 'expired' : 'cancelled');
    if (row.request.kind === 'client-tool') continue;
    content = applyAnswer(content, { questionId: row.request.question.questionId, cancelled: true, reason });
  }
  changeMessage(run.message, { content, status: 'aborted' }, version);
  return abandoned.map(decisionOf);
}

/** The content with all the answers that have been given; those it holds already stay. */
export function withAnswers(run: RunRow, content: MessageContent): MessageContent {
  let answered = content;
  for (const { answer } of run.decisions.values()) if (answer) answered = applyAnswer(answered, answer);
  return answered;
}

export function decisionOf(row: DecisionRow): Decision {
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
