import type { Answer, Store } from '@intertie/core';
import type { AnswerRequest, AnswerResult, RunKey, ToolAnswer } from '@intertie/core/store';
import { expect } from 'vitest';

export const threadId = 'thread_1';
export const yes = (questionId: string): Answer => ({ questionId, approved: true });
export const no = (questionId: string): Answer => ({ questionId, approved: false });

export async function answer(
  store: Store,
  run: RunKey,
  answers: Array<Answer | ToolAnswer>,
  rest: Partial<AnswerRequest> = {},
): Promise<AnswerResult> {
  const continuation = { runId: 'run_next', process: 'p1' };
  const result = await store.registry.answer(store.scope, run, { answers, continuation, ...rest });
  expect(result).not.toBeNull();
  return result!;
}
