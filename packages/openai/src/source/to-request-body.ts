import {
  applyAnswer,
  type CanonicalMessage,
  type Json,
  type JsonObject,
  type MessageContent,
  type MessagePart,
  type RunInput,
} from '@intertie/core';
import { asFields, asNonEmptyText, isFields, type QuestionPart, type ToolPart } from '@intertie/core/internal';
import { toText } from '../encode/encode-tool-items.ts';
import { askTool, isAskCall } from '../shared/questions.ts';

export type RequestBodyOptions = {
  model: string;
  background: boolean;
  /** Further fields of the request, for example `reasoning`. */
  request?: JsonObject | undefined;
};

/**
 * Creates the request for a run. If the server has the conversation, `previous_response_id` names it and only new items are sent;
 * otherwise the whole history is sent.
 */
export function toRequestBody(run: RunInput, { model, background, request }: RequestBodyOptions): JsonObject {
  const previous = asNonEmptyText(asFields(run.sourceState).responseId);
  const instructions = run.context.map(({ description, value }) => `${description}:\n${value}`).join('\n\n');
  const message = run.message && run.answers.reduce<MessageContent>(applyAnswer, run.message);
  const input = previous === undefined ? toHistoryItems(run, message) : toNewItems(run, message);
  return {
    ...request,
    model,
    input,
    stream: true,
    ...(background && { background }),
    ...(previous !== undefined && { previous_response_id: previous }),
    ...(instructions !== '' && { instructions }),
    ...(run.tools.length > 0 && { tools: run.tools.map(toFunctionTool) }),
  };
}

function toFunctionTool({ name, description = '', inputSchema }: RunInput['tools'][number]): JsonObject {
  const parameters = isFields(inputSchema) ? inputSchema : { type: 'object', properties: {} };
  return { type: 'function', name, description, parameters, strict: false };
}

function toHistoryItems({ history }: RunInput, message: MessageContent | undefined): JsonObject[] {
  const items = history.flatMap(toItems);
  return message ? [...items, ...message.parts.flatMap(toAssistantItems)] : items;
}

/** Outputs for the calls that the last response waits for, or else the messages after the last answer. */
function toNewItems({ history }: RunInput, message: MessageContent | undefined): JsonObject[] {
  if (!message) {
    const last = history.findLastIndex(({ role }) => role === 'assistant');
    return history.slice(last + 1).flatMap(toItems);
  }
  const end = message.runs?.at(-1);
  const waiting = end?.outcome === 'paused' ? end.waitingFor : [];
  const ids = new Set(
    waiting.flatMap((open) =>
      open.type === 'tool' ? [open.toolCallId] : open.type === 'question' ? [open.questionId] : [],
    ),
  );
  return message.parts.flatMap((part) => {
    if (part.type === 'question') return ids.has(part.questionId) ? [toAnswerItem(part)] : [];
    if (part.type !== 'tool-invocation') return [];
    const { approval } = part;
    if (approval && ids.has(approval.questionId)) return [toApproval(approval.questionId, approval.answer)];
    return ids.has(part.toolCallId) ? [toOutput(part)] : [];
  });
}

/** Answer to a question that is not about a tool call. */
function toAnswerItem({ questionId, kind, answer = { questionId } }: QuestionPart): JsonObject {
  if (!isAskCall({ name: askTool, call_id: questionId })) return toApproval(questionId, answer);
  const { approved = false, reason = null, value = null } = answer;
  const output = kind === 'approval' ? JSON.stringify({ approved, reason }) : toText(value);
  return { type: 'function_call_output', call_id: questionId, output };
}

function toApproval(id: string, answer: { approved?: boolean; reason?: string } = {}): JsonObject {
  const { approved = false, reason } = answer;
  const body = { type: 'mcp_approval_response', approval_request_id: id, approve: approved };
  return reason === undefined ? body : { ...body, reason };
}

function toOutput({ toolCallId, state, result, error }: ToolPart): JsonObject {
  const output = state === 'result' ? toText(result ?? null) : (error?.message ?? 'The call has no result.');
  return { type: 'function_call_output', call_id: toolCallId, output };
}

function toItems({ role, content }: CanonicalMessage): JsonObject[] {
  if (role === 'assistant') return content.parts.flatMap(toAssistantItems);
  const parts = content.parts.flatMap(toInputPart);
  return parts.length === 0 ? [] : [{ type: 'message', role: role === 'system' ? 'system' : 'user', content: parts }];
}

function toAssistantItems(part: MessagePart): JsonObject[] {
  if (part.type === 'text' && !part.internal) {
    return [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: part.text, annotations: [] }] },
    ];
  }
  if (part.type !== 'tool-invocation' || part.state === 'partial-call') return [];
  const call = { type: 'function_call', call_id: part.toolCallId, name: part.toolName };
  return [{ ...call, arguments: toArguments(part.args) }, toOutput(part)];
}

const toArguments = (args: Json | undefined): string => JSON.stringify(args ?? {});

function toInputPart(part: MessagePart): JsonObject[] {
  if (part.type === 'text') return [{ type: 'input_text', text: part.text }];
  if (part.type !== 'file') return [];
  const { mimeType = 'application/octet-stream', data, url, filename = 'file' } = part;
  const link = data === undefined ? url : `data:${mimeType};base64,${data}`;
  if (link === undefined) return [];
  if (mimeType.startsWith('image/')) return [{ type: 'input_image', image_url: link, detail: 'auto' }];
  return [{ type: 'input_file', filename, ...(data === undefined ? { file_url: link } : { file_data: link }) }];
}
