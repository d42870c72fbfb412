import type { CanonicalMessage, Json, MessageContent, MessagePart, OnLoss, RunInput } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import { applyAnswer } from '@intertie/core';
import { asFields, asNonEmptyText } from '../shared/fields.ts';
import { readResume } from '../shared/mail-metadata.ts';
import type { MAILToolResult, MAILRequest } from '../client/mail-request.ts';

/** The answers that a run still waits for, or its request. `fresh` starts a new task if the server no longer has the old one. */
export type SourceRequest = { waitingFor: string[] } | { waitingFor?: never; request: MAILRequest; fresh: MAILRequest };

/**
 * Builds the request of a run. A continuation answers the breakpoint at which its message is paused. Any other run continues
 * the task in `sourceState`, or starts a new one.
 */
export function buildSourceRequest(
  run: RunInput,
  { newId, canAnswer, onLoss }: { newId: () => string; canAnswer: boolean; onLoss: OnLoss },
): SourceRequest {
  const message = run.message && run.answers.reduce(applyAnswer, run.message);
  const fresh: MAILRequest = { taskId: newId(), body: prependContext(run, buildTranscript(run, message, onLoss)) };
  const resume = readResume(run.sourceState);
  const calls = message ? message.parts.filter(isClientCall) : [];
  if (run.resumes !== undefined && calls.length > 0) {
    const waitingFor = calls.filter(({ state }) => state === 'call').map(({ toolCallId }) => toolCallId);
    if (waitingFor.length > 0) return { waitingFor };
    const taskId = resume?.taskId ?? getTaskId(calls.at(-1));
    const toolResults = getLastBatch(calls).map(toToolResult);
    if (taskId === undefined) return { request: fresh, fresh };
    return { request: { taskId, resumeFrom: 'breakpoint_tool_call', body: '', toolResults }, fresh };
  }
  if (!resume) return { request: fresh, fresh };
  const body = getNewestUserText(run.history, onLoss);
  const open = run.history.findLast(({ role }) => role === 'assistant')?.content.parts.filter(isOpenCall) ?? [];
  if (resume.status === 'paused' && open.length > 0 && canAnswer) {
    // An agent's model rejects a history with an unanswered call, so the new message is sent as the result.
    const content = `The call was not answered. The user says instead: ${body}`;
    const toolResults = open.map((part) => ({ call_id: getWireCallId(part), content }));
    return { request: { taskId: resume.taskId, resumeFrom: 'breakpoint_tool_call', body: '', toolResults }, fresh };
  }
  return { request: { taskId: resume.taskId, resumeFrom: 'user_response', body }, fresh };
}

function isClientCall(part: MessagePart): part is ToolPart {
  return part.type === 'tool-invocation' && part.executor === 'client' && part.state !== 'partial-call';
}

function isOpenCall(part: MessagePart): part is ToolPart {
  return isClientCall(part) && part.state === 'call';
}

/** Returns the calls of the current pause, those of the last agent. Calls of earlier pauses were answered before. */
function getLastBatch(calls: readonly ToolPart[]): readonly ToolPart[] {
  const last = calls.at(-1);
  return calls.filter(({ agentId }) => agentId === last?.agentId);
}

function getWireCallId({ toolCallId, providerMetadata }: ToolPart): string {
  return asNonEmptyText(asFields(providerMetadata?.mail).callId) ?? toolCallId;
}

function toToolResult(part: ToolPart): MAILToolResult {
  const { state, result, error } = part;
  const content = state === 'result' ? toText(result ?? '') : `Error: ${error?.message ?? 'the call was denied.'}`;
  return { call_id: getWireCallId(part), content };
}

const toText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

function getTaskId(part: ToolPart | undefined): string | undefined {
  return asNonEmptyText(asFields(part?.providerMetadata?.mail).taskId);
}

/** Returns the text of all user messages after the last answer. */
function getNewestUserText(history: readonly CanonicalMessage[], onLoss: OnLoss): string {
  const start = history.findLastIndex(({ role }) => role !== 'user') + 1;
  return history
    .slice(start)
    .map(({ content }) => renderContent(content, onLoss))
    .join('\n\n');
}

/** Builds the first message of a new task from the whole conversation. */
function buildTranscript(
  { history, messageId }: RunInput,
  message: MessageContent | undefined,
  onLoss: OnLoss,
): string {
  const system = history.filter(({ role }) => role === 'system').map(({ content }) => renderContent(content, onLoss));
  const conversation = history.filter(({ role, id }) => role !== 'system' && id !== messageId);
  const last = message ? undefined : conversation.at(-1);
  const before = last ? conversation.slice(0, -1) : conversation;
  const lines = before.map(
    ({ role, content }) => `${role === 'user' ? 'User' : 'Assistant'}: ${renderContent(content, onLoss)}`,
  );
  if (message) lines.push(`Assistant: ${renderContent(message, onLoss)}`);
  const now = last ? renderContent(last.content, onLoss) : 'Go on from here.';
  if (lines.length === 0) return [...system, now].join('\n\n');
  return [...system, `What was said so far:\n${lines.join('\n')}`, `The user now says:\n${now}`].join('\n\n');
}

/** Renders the visible text and the client's tool results. Files are only mentioned, because agents read text. */
function renderContent({ parts, content = '' }: MessageContent, onLoss: OnLoss): string {
  const texts = parts.flatMap((part): string[] => {
    if (part.internal) return [];
    if (part.type === 'text') return [part.text];
    if (part.type === 'tool-invocation' && part.executor === 'client') {
      return [
        `(${part.toolName} ${JSON.stringify(part.args ?? {})} gave ${toText(part.result ?? part.error?.message ?? '')})`,
      ];
    }
    if (part.type !== 'file') return [];
    const name = part.filename ?? 'a file';
    onLoss({ kind: 'unsupported', what: 'file', why: `MAIL transports only text; ${name} is mentioned.` });
    return [`[file: ${name}${part.mimeType ? `, ${part.mimeType}` : ''}${part.url ? ` at ${part.url}` : ''}]`];
  });
  return texts.length > 0 ? texts.join('\n') : content;
}

function prependContext({ context }: RunInput, body: string): string {
  return [...context.map(({ description, value }) => `${description}:\n${value}`), body].join('\n\n');
}
