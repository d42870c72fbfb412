import type { Answer, Json, Question } from '@intertie/core';
import type { AnswersByRun } from '@intertie/core/internal';
import type { Decision, ToolAnswer } from '@intertie/core/store';
import { toApprovalId } from '../encode/encode-tool-items.ts';
import { parseOutput, readAskOutput, toAskCallId } from '../shared/questions.ts';
import type { Output } from './read-input.ts';

/** Matches the outputs of a request with decisions of a thread. Several runs may have asked. */
export function readAnswers(outputs: readonly Output[], decisions: readonly Decision[]): AnswersByRun {
  const answers = new Map<string, Array<Answer | ToolAnswer>>();
  for (const decision of decisions) {
    const answer = findAnswer(outputs, decision);
    if (answer) answers.set(decision.runId, [...(answers.get(decision.runId) ?? []), answer]);
  }
  return answers;
}

function findAnswer(outputs: readonly Output[], decision: Decision): Answer | ToolAnswer | undefined {
  if (decision.kind === 'client-tool') {
    const { toolCallId } = decision;
    const output = outputs.find((given) => given.type === 'output' && given.callId === toolCallId);
    return output?.type === 'output' ? { toolCallId, status: 'ok', ...readToolOutput(output) } : undefined;
  }
  return findQuestionAnswer(outputs, decision.question);
}

function findQuestionAnswer(outputs: readonly Output[], question: Question): Answer | undefined {
  const { questionId } = question;
  for (const output of outputs) {
    if (output.type === 'output' && output.callId === toAskCallId(question))
      return readAskOutput(question, output.text);
    if (output.type === 'approval' && output.id === toApprovalId(question)) {
      const { approved, reason } = output;
      return { questionId, approved, ...(reason !== undefined && { reason }) };
    }
  }
  return undefined;
}

/** Reads JSON objects and lists as values. Any other output is a text. */
function readToolOutput({ text, content }: Output & { type: 'output' }): { output: Json; content?: true } {
  if (content) return { output: content as unknown as Json, content: true };
  const value = parseOutput(text);
  return { output: typeof value === 'object' && value !== null ? value : text };
}

/** Call ids that a client has to answer first, as it knows them. */
export function listOpenCalls(open: readonly Decision[]): string[] {
  return open.map((decision) => {
    if (decision.kind === 'client-tool') return decision.toolCallId;
    return decision.kind === 'approval' ? toApprovalId(decision.question) : toAskCallId(decision.question);
  });
}
