import { applyAnswer } from '@intertie/core';
import type { Decision } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { selectRunDecisions, isOpen, settleDecisions } from './decision-row.ts';
import { updateRunMessage, readRunContent } from './run-message.ts';
import type { RunRow } from './run-record.ts';

/**
 * Gives up a paused run: expires overdue decisions, cancels the other open ones, marks the questions as cancelled, and aborts
 * the message. Calls of client tools stay unsettled in the message; readers derive their state.
 */
export async function abandonRun(sql: Sql, run: RunRow, reason: string, version: number): Promise<Decision[]> {
  const open = (await selectRunDecisions(sql, run.record.key)).filter(isOpen);
  const toIds = (rows: typeof open): string[] => rows.map(({ request }) => request.id);
  await settleDecisions(sql, run.record.key, toIds(open.filter((row) => row.isOverdue)), 'expired');
  await settleDecisions(sql, run.record.key, toIds(open.filter((row) => !row.isOverdue)), 'cancelled');
  let content = await readRunContent(sql, run);
  for (const { request } of open) {
    if (request.kind === 'client-tool') continue;
    content = applyAnswer(content, { questionId: request.question.questionId, cancelled: true, reason });
  }
  await updateRunMessage(sql, run, { content, status: 'aborted' }, version);
  return open.map(({ decision, isOverdue }) =>
    Object.assign(decision, { state: isOverdue ? ('expired' as const) : ('cancelled' as const) }),
  );
}
