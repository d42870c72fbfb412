import type { Answer, JsonObject, OnLoss } from '@intertie/core';
import { equalJson, toJson, type QuestionPart } from '@intertie/core/internal';
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

/** A question about no call is a dynamic tool, named by its reason, that the page answers with `addToolOutput`. */
export function encodeUIQuestionPart(part: QuestionPart): UIToolPart {
  const { type: _, id, agentId, stepId, to, internal, providerMetadata, questionId, answer, ...input } = part;
  const kept = toIdentity({ id, agentId, stepId, to, internal });
  const asked: UIToolPart = {
    type: 'dynamic-tool',
    toolName: part.reason || 'question',
    toolCallId: toQuestionCallId(questionId),
    state: 'input-available',
    input,
    callProviderMetadata: withIntertie(providerMetadata, { question: true, ...kept })!,
  };
  if (!answer) return asked;
  const { value, providerMetadata: answerMetadata, ...said } = omit(answer, 'questionId');
  const metadata = { resultProviderMetadata: withIntertie(answerMetadata, { answer: said })! };
  if (answer.cancelled) {
    const errorText = answer.reason || 'The question was cancelled.';
    return { ...asked, state: 'output-error', errorText, ...metadata };
  }
  return { ...asked, state: 'output-available', output: value === undefined ? said : value, ...metadata };
}

/** Undefined: it is a tool like any other. */
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

/** What the page gave as the tool's output: yes or no to an approval, else the value that was asked for. */
function decodeAnswer(questionId: string, kind: unknown, ui: Fields, onLoss: OnLoss): Answer | undefined {
  const { intertie, meta } = splitMetadata(parseMetadata(ui.resultProviderMetadata, onLoss));
  const more = meta ? { providerMetadata: meta } : {};
  if (ui.state !== 'output-available' && ui.state !== 'output-error') return undefined;
  if (intertie.answer !== undefined) {
    const said = answerFields(asFields(intertie.answer));
    const output = toJson(ui.output ?? null, onLoss);
    const hasValue = ui.state === 'output-available' && !equalJson(output, intertie.answer);
    return { questionId, ...said, ...(hasValue && { value: output }), ...more };
  }
  if (ui.state === 'output-error') return { questionId, cancelled: true, ...more };
  const output = toJson(ui.output ?? null, onLoss);
  const { approved, reason } = asFields(output);
  if (kind === 'approval' && typeof output === 'boolean') return { questionId, approved: output, ...more };
  if (kind === 'approval' && typeof approved === 'boolean') {
    return { questionId, approved, ...defined({ reason: asText(reason) }), ...more };
  }
  return { questionId, value: output, ...more };
}

function answerFields(said: Fields): Omit<Answer, 'questionId' | 'value'> & JsonObject {
  return {
    ...defined({ approved: asBoolean(said.approved), reason: asText(said.reason), by: asText(said.by) }),
    ...(said.cancelled === true && { cancelled: true }),
  };
}
