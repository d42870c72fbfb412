import { applyAnswer } from '@intertie/core';
import type { Decision } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { decisionsOfRun, isOpen, settleDecisions } from './decision-row.ts';
import { changeMessage, contentOf } from './run-message.ts';
import type { RunRow } from './run-record.ts';

/**
 * A paused run does not go on. Nobody will answer what it waits for: overdue decisions expire, the others are cancelled,
 * the questions say so, and the message is aborted. Calls of client tools stay unsettled; that is derived, never written.
 */
export async function abandonRun(sql: Sql, run: RunRow, reason: string, version: number): Promise<Decision[]> {
  const open = (await decisionsOfRun(sql, run.record.key)).filter(isOpen);
  const idsOf = (rows: typeof open): string[] => rows.map(({ request }) => request.id);
  await settleDecisions(sql, run.record.key, idsOf(open.filter((row) => row.isOverdue)), 'expired');
  await settleDecisions(sql, run.record.key, idsOf(open.filter((row) => !row.isOverdue)), 'cancelled');
  let content = await contentOf(sql, run);
  for (const { request } of open) {
    if (request.kind === 'client-tool') continue;
    content = applyAnswer(content, { questionId: request.question.questionId, cancelled: true, reason });
  }
  await changeMessage(sql, run, { content, status: 'aborted' }, version);
  return open.map(({ decision, isOverdue }) =>
    Object.assign(decision, { state: isOverdue ? ('expired' as const) : ('cancelled' as const) }),
  );
}
