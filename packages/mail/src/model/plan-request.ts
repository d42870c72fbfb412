import type { LanguageModelV3Prompt, SharedV3Warning } from '@ai-sdk/provider';
import { convertToMAILMessage } from './convert-to-mail-message.ts';
import { asFields, asNonEmptyText } from '../shared/fields.ts';
import type { MAILModelSettings } from '../shared/mail-settings.ts';
import type { MAILRequest } from '../client/mail-request.ts';
import { isResumeToken, readResumeToken } from '../shared/resume-token.ts';

export type PlannedRequest = { request: MAILRequest; warnings: SharedV3Warning[] };

/**
 * Decides which task a prompt continues, and with what. The metadata of earlier answers contains the task ids: tool results at
 * the end of the prompt resume a paused task, a new user message continues a completed one. Without `resume_from` a completed
 * task would drop the message and ping forever.
 */
export function planRequest(
  prompt: LanguageModelV3Prompt,
  settings: MAILModelSettings,
  { generateId, canAnswer }: { generateId: () => string; canAnswer: boolean },
): PlannedRequest {
  const known = findTaskId(prompt);
  const paused = readResumeToken(settings.resumeFrom) ?? readResumeToken(settings.taskId);
  const taskId = paused?.taskId ?? asNonEmptyText(settings.taskId) ?? known;
  // The calls of a token are pending until the prompt contains a later answer of the task.
  const pending = paused !== undefined && taskId !== known ? paused.calls : [];
  const isKnown = taskId !== undefined && taskId === known;
  const fallback = pending.length > 0 ? 'breakpoint_tool_call' : isKnown ? 'user_response' : undefined;
  const resumeFrom = isResumeToken(settings.resumeFrom) ? fallback : (settings.resumeFrom ?? fallback);
  const { messageBody, toolResults, warnings } = convertToMAILMessage(prompt, {
    includeSystem: resumeFrom === undefined,
  });
  if (toolResults.length > 0 && taskId !== undefined) {
    return { request: { taskId, resumeFrom: 'breakpoint_tool_call', body: '', toolResults }, warnings };
  }
  if (taskId === undefined) return planNewTask(prompt, generateId());
  const { toolResults: answered } = convertToMAILMessage(dropLastUserMessages(prompt));
  if (answered.length > 0 && messageBody !== '' && canAnswer) {
    // The agent's model rejects a call without a result, and the server ignores the body: append the text to the last result.
    const last = answered.at(-1)!;
    const withUserText = { ...last, content: `${last.content}\n\nThe user adds: ${messageBody}` };
    const all = [...answered.slice(0, -1), withUserText];
    return { request: { taskId, resumeFrom: 'breakpoint_tool_call', body: '', toolResults: all }, warnings };
  }
  if (pending.length > 0 && resumeFrom === 'breakpoint_tool_call') {
    const results = pending.map((callId) => ({ call_id: callId, content: messageBody }));
    return { request: { taskId, resumeFrom, body: '', toolResults: results }, warnings };
  }
  // Without tool results a breakpoint cannot be resumed.
  const from = resumeFrom === 'breakpoint_tool_call' ? 'user_response' : resumeFrom;
  return { request: { taskId, ...(from && { resumeFrom: from }), body: messageBody }, warnings };
}

/** Plans a new task that starts with the transcript of the conversation. */
export function planNewTask(prompt: LanguageModelV3Prompt, taskId: string): PlannedRequest {
  const { messageBody, warnings } = convertToMAILMessage(prompt, { transcript: true });
  return { request: { taskId, body: messageBody }, warnings };
}

/** Returns the prompt without the user messages at its end. */
function dropLastUserMessages(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  return prompt.slice(0, prompt.findLastIndex(({ role }) => role !== 'user') + 1);
}

/** Returns the task id of the last answer. */
function findTaskId(prompt: LanguageModelV3Prompt): string | undefined {
  for (const message of prompt.toReversed()) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content.toReversed()) {
      const taskId = asNonEmptyText(asFields(part.providerOptions?.mail).taskId);
      if (taskId !== undefined) return taskId;
    }
    // The last answer is from another model, so no task contains it.
    return undefined;
  }
  return undefined;
}
