import type { Answer, JsonObject, OnLoss } from '@intertie/core';
import { toJson } from '@intertie/core';
import { equalJson, type QuestionPart } from '@intertie/core/internal';
import { parseIdentity, toIdentity, splitMetadata, withIntertie } from '../shared/intertie-metadata.ts';
import {
  defined,
  asFields,
  asBoolean,
  parseMetadata,
  asNonEmptyText,
  omit,
  asText,
  type Fields,
} from '../shared/read-fields.ts';
import { toQuestionCallId, parseQuestionId } from '../ui-message-stream/chunk/ui-question-id.ts';
import type { UIToolPart } from './ui-tool-part.ts';

/** Encodes a question without a call as a dynamic tool named after its reason. The client answers with `addToolOutput`. */
export function encodeUIQuestionPart(part: QuestionPart): UIToolPart {
  const { type: _, id, agentId, stepId, to, internal, providerMetadata, questionId, answer, ...input } = part;
  const identity = toIdentity({ id, agentId, stepId, to, internal });
  const asked: UIToolPart = {
    type: 'dynamic-tool',
    toolName: part.reason || 'question',
    toolCallId: toQuestionCallId(questionId),
    state: 'input-available',
    input,
    callProviderMetadata: withIntertie(providerMetadata, { question: true, ...identity })!,
  };
  if (!answer) return asked;
  const { value, providerMetadata: answerMetadata, ...fields } = omit(answer, 'questionId');
  const metadata = { resultProviderMetadata: withIntertie(answerMetadata, { answer: fields })! };
  if (answer.cancelled) {
    const errorText = answer.reason || 'The question was cancelled.';
    return { ...asked, state: 'output-error', errorText, ...metadata };
  }
  return { ...asked, state: 'output-available', output: value === undefined ? fields : value, ...metadata };
}

/** Decodes a question. Undefined: the part is an ordinary tool call. */
export function decodeUIQuestionPart(ui: Fields, onLoss: OnLoss): QuestionPart | undefined {
  const { intertie, meta } = splitMetadata(parseMetadata(ui.callProviderMetadata, onLoss));
  const questionId = parseQuestionId(ui.toolCallId);
  if (intertie.question !== true || questionId === undefined) return undefined;
  const input = asFields(ui.input);
  const answer = decodeAnswer(questionId, input.kind, ui, onLoss);
  return {
    type: 'question',
    questionId,
    kind: input.kind === 'approval' ? 'approval' : 'input',
    ...defined({
      toolCallId: asNonEmptyText(input.toolCallId),
      reason: asText(input.reason),
      message: asText(input.message),
      schema: input.schema === undefined ? undefined : toJson(input.schema, onLoss),
      expiresAt: asText(input.expiresAt),
    }),
    ...(input.automatic === true && { automatic: true }),
    ...parseIdentity(intertie),
    ...(meta && { providerMetadata: meta }),
    ...(answer && { answer }),
  };
}

/** Decodes the tool output as an answer: a boolean or `{ approved }` for an approval, otherwise the requested value. */
function decodeAnswer(questionId: string, kind: unknown, ui: Fields, onLoss: OnLoss): Answer | undefined {
  const { intertie, meta } = splitMetadata(parseMetadata(ui.resultProviderMetadata, onLoss));
  const metadata = meta ? { providerMetadata: meta } : {};
  if (ui.state !== 'output-available' && ui.state !== 'output-error') return undefined;
  if (intertie.answer !== undefined) {
    const fields = readAnswerFields(asFields(intertie.answer));
    const output = toJson(ui.output ?? null, onLoss);
    const hasValue = ui.state === 'output-available' && !equalJson(output, intertie.answer);
    return { questionId, ...fields, ...(hasValue && { value: output }), ...metadata };
  }
  if (ui.state === 'output-error') return { questionId, cancelled: true, ...metadata };
  const output = toJson(ui.output ?? null, onLoss);
  const { approved, reason } = asFields(output);
  if (kind === 'approval' && typeof output === 'boolean') return { questionId, approved: output, ...metadata };
  if (kind === 'approval' && typeof approved === 'boolean') {
    return { questionId, approved, ...defined({ reason: asText(reason) }), ...metadata };
  }
  return { questionId, value: output, ...metadata };
}

function readAnswerFields(answer: Fields): Omit<Answer, 'questionId' | 'value'> & JsonObject {
  return {
    ...defined({ approved: asBoolean(answer.approved), reason: asText(answer.reason), by: asText(answer.by) }),
    ...(answer.cancelled === true && { cancelled: true }),
  };
}
