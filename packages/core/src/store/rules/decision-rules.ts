import { defined, omit } from '../../json/fields.ts';
import { equalJson } from '../../json/json-patch.ts';
import type { JsonObject } from '../../json/json.ts';
import type { Outcome } from '../../event/outcome.ts';
import type { Answer } from '../../event/part-body.ts';
import type { AnswerVerdict, Decision, DecisionRequest } from '../registry.ts';
import { StoreError } from '../store-error.ts';
import { checkStoreId } from '../store-id.ts';
import type { ToolAnswer } from '../../event/tool-result.ts';
import { toNearestJson, readJson } from './read-message.ts';

/** Checks and copies the decisions of a request. */
export function readDecisions(requests: readonly DecisionRequest[]): DecisionRequest[] {
  return requests.map(({ expiresAt, ...rest }) => {
    checkStoreId('The id of a decision', rest.id);
    if (expiresAt && Number.isNaN(expiresAt.getTime())) {
      throw new StoreError('invalid', `expiresAt of decision "${rest.id}" is not a valid Date. Omit it for no limit.`);
    }
    return Object.assign(toNearestJson(rest), expiresAt && { expiresAt: new Date(expiresAt) });
  });
}

/** Checks and copies the answer of a request. */
export function readAnswer(answer: Answer | ToolAnswer): Answer | ToolAnswer {
  if ('preliminary' in answer && answer.preliminary) {
    const text = `The result of call "${answer.toolCallId}" is preliminary. Send the final result when it is available.`;
    throw new StoreError('invalid', text);
  }
  return readJson(answer, 'answer');
}

/** Returns the id of the question or call that is answered. */
export function getAnsweredId(answer: Answer | ToolAnswer): string {
  return 'questionId' in answer ? answer.questionId : answer.toolCallId;
}

/** Whether the answer belongs to the decision. */
export function isAnswerTo(request: DecisionRequest, answer: Answer | ToolAnswer): boolean {
  return 'questionId' in answer
    ? request.kind !== 'client-tool' && request.question.questionId === answer.questionId
    : request.kind === 'client-tool' && request.toolCallId === answer.toolCallId;
}

/** Whether two answers are equal, ignoring their author and provider metadata. */
export function isSameAnswer(a: Answer | ToolAnswer, b: Answer | ToolAnswer): boolean {
  return equalJson(getComparedFields(a), getComparedFields(b));
}

/** Decides whether a store accepts an answer to a decision. The first answer counts. An overdue decision has expired. */
export function judgeAnswer(
  answer: Answer | ToolAnswer,
  decision: Pick<Decision, 'state' | 'answer' | 'answeredBy' | 'answeredAt'> | undefined,
  isOverdue: boolean,
): AnswerVerdict {
  const id = getAnsweredId(answer);
  if (!decision) return { id, result: 'unknown' };
  if (isOverdue) return { id, result: 'expired' };
  const { state, answer: first, answeredBy, answeredAt } = decision;
  if (state === 'cancelled' || state === 'expired') return { id, result: state };
  if (!first) return { id, result: 'accepted' };
  if (isSameAnswer(first, answer)) return { id, result: 'duplicate' };
  return { id, result: 'conflict', ...defined({ answeredBy, answeredAt }) };
}

function getComparedFields(answer: Answer | ToolAnswer): JsonObject {
  return omit(answer as JsonObject, 'by', 'providerMetadata');
}

/** Whether a run with this outcome waits for the decision. */
export function isAwaited(outcome: Outcome | undefined, request: DecisionRequest): boolean {
  if (outcome?.outcome !== 'paused') return false;
  return outcome.waitingFor.some((waiting) =>
    request.kind === 'client-tool'
      ? waiting.type === 'tool' && waiting.toolCallId === request.toolCallId
      : waiting.type === 'question' && waiting.questionId === request.question.questionId,
  );
}
