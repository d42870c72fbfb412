import { omit } from '../fields.ts';
import { equalJson } from '../json-patch.ts';
import type { JsonObject } from '../json.ts';
import type { Outcome } from '../outcome.ts';
import type { Answer } from '../part-body.ts';
import type { DecisionRequest } from '../registry.ts';
import { StoreError } from '../store-error.ts';
import { checkStoreId } from '../store-id.ts';
import type { ToolAnswer } from '../tool-result.ts';
import { keepJson, readJson } from './read-message.ts';

/** Decisions on their way in: checked, and copied. */
export function readDecisions(requests: readonly DecisionRequest[]): DecisionRequest[] {
  return requests.map(({ expiresAt, ...rest }) => {
    checkStoreId('The id of a decision', rest.id);
    if (expiresAt && Number.isNaN(expiresAt.getTime())) {
      throw new StoreError(
        'invalid',
        `expiresAt of decision "${rest.id}" is not a valid Date. Leave it out for no limit.`,
      );
    }
    return Object.assign(keepJson(rest), expiresAt && { expiresAt: new Date(expiresAt) });
  });
}

/** An answer on its way in: checked, and copied. */
export function readAnswer(answer: Answer | ToolAnswer): Answer | ToolAnswer {
  if ('preliminary' in answer && answer.preliminary) {
    const text = `The result of call "${answer.toolCallId}" is preliminary, and only a final one is an answer. Send it when it is there.`;
    throw new StoreError('invalid', text);
  }
  return readJson(answer, 'answer');
}

/** The id of what is answered: a question or a call. */
export function answeredId(answer: Answer | ToolAnswer): string {
  return 'questionId' in answer ? answer.questionId : answer.toolCallId;
}

export function isAnswerTo(request: DecisionRequest, answer: Answer | ToolAnswer): boolean {
  return 'questionId' in answer
    ? request.kind !== 'client-tool' && request.question.questionId === answer.questionId
    : request.kind === 'client-tool' && request.toolCallId === answer.toolCallId;
}

/** Who said it, and what a protocol notes beside it, makes no other answer of it. */
export function isSameAnswer(a: Answer | ToolAnswer, b: Answer | ToolAnswer): boolean {
  return equalJson(substance(a), substance(b));
}

function substance(answer: Answer | ToolAnswer): JsonObject {
  const rest = omit(answer as JsonObject, 'by', 'providerMetadata');
  return rest;
}

/** Whether a run that ended so waits for the decision. */
export function isAwaited(outcome: Outcome | undefined, request: DecisionRequest): boolean {
  if (outcome?.outcome !== 'paused') return false;
  return outcome.waitingFor.some((waiting) =>
    request.kind === 'client-tool'
      ? waiting.type === 'tool' && waiting.toolCallId === request.toolCallId
      : waiting.type === 'question' && waiting.questionId === request.question.questionId,
  );
}
