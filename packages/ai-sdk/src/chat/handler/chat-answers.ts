import type { Answer, MessageContent, MessagePart, RunInput } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import type { ToolAnswer, Waiting } from '@intertie/core/store';
import { metadataKey } from '../../shared/intertie-metadata.ts';
import { defined, asFields, isFields, asNonEmptyText, omit, type Fields } from '../../shared/read-fields.ts';
import { toQuestionCallId } from '../../ui-message-stream/chunk/ui-question-id.ts';

/** What a message says that its last run waits for, from the metadata that the chat sent back. Undefined: it does not say. */
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
 * What the last turn of somebody else's message may have waited for: the calls and approvals after its last `step-start`
 * that neither the provider nor the server has settled.
 */
export function guessWaitingFor(message: Fields, { parts }: MessageContent): Waiting[] {
  const shown = Array.isArray(message.parts) ? message.parts.map(asFields) : [];
  const lastStep = shown.slice(shown.findLastIndex(({ type }) => type === 'step-start') + 1);
  const ids = new Set(lastStep.flatMap(({ toolCallId }) => asNonEmptyText(toolCallId) ?? []));
  return parts.flatMap((part): Waiting[] => {
    if (part.type === 'question') {
      return ids.has(toQuestionCallId(part.questionId)) ? [{ type: 'question', questionId: part.questionId }] : [];
    }
    if (part.type !== 'tool-invocation') return [];
    const { approval, state, executor, toolCallId } = part;
    // An approval that was acted on is settled; one that was only answered is news.
    if (approval?.answer && state === 'call') return [{ type: 'question', questionId: approval.questionId }];
    const isClients = executor !== 'provider' && executor !== 'runtime' && approval === undefined;
    return isClients && ids.has(toolCallId) ? [{ type: 'tool', toolCallId }] : [];
  });
}

/**
 * The chat sends back a message with the answers in it. A run begins with the message as the last one left it, and with the
 * answers beside it: a runtime that goes on by a token must be told what is new.
 */
export function takeAnswers(
  content: MessageContent,
  waitingFor: readonly Waiting[],
): { message: MessageContent; answers: RunInput['answers'] } {
  const awaited = new Set(waitingFor.map((waiting) => keyOf(waiting)));
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
    const settled = settlementOf(part);
    if (settled) answers.push(settled);
    return unanswered(part, isAsked);
  });
  return { message: { ...content, parts }, answers };
}

function keyOf(waiting: Waiting): string {
  if (waiting.type === 'message') return waiting.type;
  return `${waiting.type} ${waiting.type === 'tool' ? waiting.toolCallId : waiting.questionId}`;
}

function settlementOf(part: ToolPart): ToolAnswer | undefined {
  const { toolCallId, state, result = null, error, resultContent: content } = part;
  switch (state) {
    case 'result':
      return { toolCallId, status: 'ok', output: result, ...defined({ content }) };
    case 'error':
      return { toolCallId, status: 'error', error: error ?? { message: 'The tool failed.' } };
    case 'denied':
      return { toolCallId, status: 'denied', ...(error && { reason: error.message }) };
    default:
      return undefined;
  }
}

function unanswered(part: ToolPart, isAsked: boolean): ToolPart {
  const { approval, state, ...call } = omit(part, 'result', 'error', 'resultContent', 'resultMetadata');
  const question = approval && omit(approval, 'answer');
  const asked = isAsked ? question : approval;
  return {
    ...call,
    state: state === 'partial-call' ? state : 'call',
    ...(approval && { approval: asked as NonNullable<ToolPart['approval']> }),
  };
}
