import type { Answer, MessageContent, MessagePart, RunInput } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import type { Decision, ToolAnswer, Waiting } from '@intertie/core/store';
import { toToolAnswer } from '../../messages/join-tool-messages.ts';
import { metadataKey } from '../../shared/intertie-metadata.ts';
import { defined, asFields, isFields, asNonEmptyText, omit, type Fields } from '../../shared/read-fields.ts';
import { toQuestionCallId } from '../../ui-message-stream/chunk/ui-question-id.ts';

/** Reads from our metadata what the message's last run waits for. Undefined: the message has no such metadata. */
export function readWaitingFor(message: Fields): Waiting[] | undefined {
  const { waitingFor } = asFields(asFields(message.metadata)[metadataKey]);
  if (!Array.isArray(waitingFor)) return undefined;
  return waitingFor.filter(isFields).flatMap(({ type, toolCallId, questionId }): Waiting[] => {
    if (type === 'tool' && asNonEmptyText(toolCallId) !== undefined)
      return [{ type, toolCallId: toolCallId as string }];
    if (type === 'question' && asNonEmptyText(questionId) !== undefined)
      return [{ type, questionId: questionId as string }];
    return [];
  });
}

/**
 * Infers what a message without our metadata waited for: the calls and approvals after its last `step-start` that neither
 * the provider nor the server has settled.
 */
export function guessWaitingFor(message: Fields, { parts }: MessageContent): Waiting[] {
  const uiParts = Array.isArray(message.parts) ? message.parts.map(asFields) : [];
  const lastStep = uiParts.slice(uiParts.findLastIndex(({ type }) => type === 'step-start') + 1);
  const ids = new Set(lastStep.flatMap(({ toolCallId }) => asNonEmptyText(toolCallId) ?? []));
  return parts.flatMap((part): Waiting[] => {
    if (part.type === 'question') {
      return ids.has(toQuestionCallId(part.questionId)) ? [{ type: 'question', questionId: part.questionId }] : [];
    }
    if (part.type !== 'tool-invocation') return [];
    const { approval, state, executor, toolCallId } = part;
    // An approval whose call has a result is settled. One with only an answer is new to the run.
    if (approval?.answer && state === 'call') return [{ type: 'question', questionId: approval.questionId }];
    const isClients = executor !== 'provider' && executor !== 'runtime' && approval === undefined;
    return isClients && ids.has(toolCallId) ? [{ type: 'tool', toolCallId }] : [];
  });
}

/**
 * Splits a message that a chat sent back into the message as the last run left it and the answers added since. Runtimes
 * that resume by a token need the new answers separately.
 */
export function extractAnswers(
  content: MessageContent,
  waitingFor: readonly Waiting[],
): { message: MessageContent; answers: RunInput['answers'] } {
  const awaited = new Set(waitingFor.map((waiting) => toKey(waiting)));
  const answers: Array<Answer | ToolAnswer> = [];
  const parts = content.parts.map((part): MessagePart => {
    if (part.type === 'question') {
      const { answer, ...question } = part;
      if (!answer || !awaited.has(`question ${part.questionId}`)) return part;
      answers.push(answer);
      return question;
    }
    if (part.type !== 'tool-invocation') return part;
    const { approval } = part;
    const isAsked = approval !== undefined && awaited.has(`question ${approval.questionId}`);
    if (!isAsked && !awaited.has(`tool ${part.toolCallId}`)) return part;
    if (isAsked && approval.answer) answers.push(approval.answer);
    const toolAnswer = toToolAnswer(part);
    if (toolAnswer) answers.push(toolAnswer);
    return removeAnswer(part, isAsked);
  });
  return { message: { ...content, parts }, answers };
}

/** Extracts only the answers to a run's open decisions. Results for calls that the chat was not asked for are ignored. */
export function extractDecisionAnswers(
  content: MessageContent,
  decisions: readonly Decision[],
): Array<Answer | ToolAnswer> {
  const waitingFor = decisions.map(({ id, kind }) =>
    kind === 'client-tool' ? { type: 'tool' as const, toolCallId: id } : { type: 'question' as const, questionId: id },
  );
  const tools = new Set(decisions.filter(({ kind }) => kind === 'client-tool').map(({ id }) => id));
  return extractAnswers(content, waitingFor).answers.flatMap((answer): Array<Answer | ToolAnswer> => {
    if ('toolCallId' in answer) return tools.has(answer.toolCallId) ? [answer] : [];
    const { questionId, approved, value, cancelled, reason } = answer;
    return [{ questionId, ...defined({ approved, value, cancelled, reason }) }];
  });
}

function toKey(waiting: Waiting): string {
  if (waiting.type === 'message') return waiting.type;
  return `${waiting.type} ${waiting.type === 'tool' ? waiting.toolCallId : waiting.questionId}`;
}

function removeAnswer(part: ToolPart, isAsked: boolean): ToolPart {
  const { approval, state, ...call } = omit(part, 'result', 'error', 'resultContent', 'resultMetadata');
  return {
    ...call,
    state: state === 'partial-call' ? state : 'call',
    ...(approval && { approval: isAsked ? omit(approval, 'answer') : approval }),
  };
}
