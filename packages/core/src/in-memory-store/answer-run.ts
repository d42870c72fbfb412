import { applyAnswer } from '../apply-answer.ts';
import type { JsonObject } from '../json.ts';
import { equalJson } from '../json-patch.ts';
import type { Answer } from '../part-body.ts';
import type { AnswerRequest, AnswerResult, AnswerVerdict } from '../registry.ts';
import { StoreError } from '../store-error.ts';
import type { ToolAnswer } from '../tool-result.ts';
import { continueRun, readContinuation } from './continue-run.ts';
import { changeMessage, nextVersion } from './conversation.ts';
import { decisionOf, isAnswered, isOpen, isOverdue, settle } from './decision-row.ts';
import { readJson } from './read-message.ts';
import { recordOf } from './run-row.ts';
import type { DecisionRow, RunRow, Tables } from './tables.ts';

/** Each decision is answered once; with the last one of a paused run, the run goes on. */
export function answerRun(tables: Tables, run: RunRow, request: AnswerRequest): AnswerResult {
  const continuation = run.live ? undefined : readContinuation(run, request.continuation);
  const answers = request.answers.map((answer) => readAnswer(answer));
  const accepted: Array<Answer | ToolAnswer> = [];
  const verdicts = answers.map((answer) => {
    const verdict = judge(tables, run, answer, request.by);
    if (verdict.result === 'accepted') accepted.push(answer);
    return verdict;
  });
  if (!continuation) {
    // The owner alone writes the message of a live run. `finish` applies what it has not seen.
    if (accepted.length > 0) tables.hints.publish({ type: 'answer', run: run.key });
    return { verdicts, open: openOf(tables, run), live: true };
  }
  const live = false;
  if (run.continuation) {
    return { verdicts, open: [], continuation: { run: recordOf(run.continuation), created: false }, live };
  }
  const goesOn = isAnswered(run);
  if (accepted.length === 0 && !goesOn) return { verdicts, open: openOf(tables, run), live };
  const version = nextVersion(tables, run.thread);
  let { content } = run.message.message;
  for (const answer of accepted) content = applyAnswer(content, answer);
  changeMessage(run.message, { content }, version);
  if (!goesOn) return { verdicts, open: openOf(tables, run), live };
  return { verdicts, open: [], continuation: continueRun(tables, run, continuation, version), live };
}

function readAnswer(answer: Answer | ToolAnswer): Answer | ToolAnswer {
  if ('preliminary' in answer && answer.preliminary) {
    const text = `The result of call "${answer.toolCallId}" is preliminary, and only a final one is an answer. Send it when it is there.`;
    throw new StoreError('invalid', text);
  }
  return readJson(answer, 'answer');
}

function judge(tables: Tables, run: RunRow, answer: Answer | ToolAnswer, by: string | undefined): AnswerVerdict {
  const id = 'questionId' in answer ? answer.questionId : answer.toolCallId;
  const row = findDecision(run, answer);
  if (!row) return { id, result: 'unknown' };
  if (isOverdue(tables, row)) return { id, result: 'expired' };
  if (row.state === 'cancelled' || row.state === 'expired') return { id, result: row.state };
  if (row.state === 'answered') {
    if (equalJson(substance(row.answer!), substance(answer))) return { id, result: 'duplicate' };
    return {
      id,
      result: 'conflict',
      ...(row.answeredBy !== undefined && { answeredBy: row.answeredBy }),
      ...(row.answeredAt !== undefined && { answeredAt: new Date(row.answeredAt) }),
    };
  }
  const answeredBy = by ?? ('questionId' in answer ? answer.by : undefined);
  settle(tables, row, 'answered');
  row.answer = answer;
  row.answeredAt = tables.now();
  if (answeredBy !== undefined) row.answeredBy = answeredBy;
  return { id, result: 'accepted' };
}

function findDecision(run: RunRow, answer: Answer | ToolAnswer): DecisionRow | undefined {
  for (const row of run.decisions.values()) {
    const { request } = row;
    if ('questionId' in answer) {
      if (request.kind !== 'client-tool' && request.question.questionId === answer.questionId) return row;
    } else if (request.kind === 'client-tool' && request.toolCallId === answer.toolCallId) return row;
  }
  return undefined;
}

/** What was answered. Who said it, and what a protocol notes beside it, makes no other answer of it. */
function substance(answer: Answer | ToolAnswer): JsonObject {
  const { by: _, providerMetadata: __, ...rest } = answer as JsonObject;
  return rest;
}

function openOf(tables: Tables, run: RunRow): AnswerResult['open'] {
  return [...run.decisions.values()].filter((row) => isOpen(row) && !isOverdue(tables, row)).map(decisionOf);
}
