import type { LanguageModelV3Prompt, SharedV3Warning } from '@ai-sdk/provider';
import { convertToMAILMessage } from './convert-to-mail-message.ts';
import { fieldsOf, nameOf } from '../shared/fields.ts';
import type { MAILModelSettings } from '../shared/mail-settings.ts';
import type { MAILRequest } from '../client/mail-request.ts';
import { isResumeToken, readResumeToken } from '../shared/resume-token.ts';

export type PlannedRequest = { request: MAILRequest; warnings: SharedV3Warning[] };

/**
 * Which task a prompt goes on with, and with what. The ids of tasks are in the metadata of the answers, so the history is
 * enough: results of breakpoint tools at its end resume the paused task, a new user message the finished one. Without
 * `resume_from` a finished task would drop the message and ping forever.
 */
export function planRequest(
  prompt: LanguageModelV3Prompt,
  settings: MAILModelSettings,
  { generateId, canAnswer }: { generateId: () => string; canAnswer: boolean },
): PlannedRequest {
  const known = findTaskId(prompt);
  const paused = readResumeToken(settings.resumeFrom) ?? readResumeToken(settings.taskId);
  const taskId = paused?.taskId ?? nameOf(settings.taskId) ?? known;
  // The calls of a token are pending only as long as no answer of the task follows them.
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
    // A call that stays without a result is refused by the agent's model, and the body is not read: the words come with it.
    const last = answered.at(-1)!;
    const withUserText = { ...last, content: `${last.content}\n\nThe user adds: ${messageBody}` };
    const all = [...answered.slice(0, -1), withUserText];
    return { request: { taskId, resumeFrom: 'breakpoint_tool_call', body: '', toolResults: all }, warnings };
  }
  if (pending.length > 0 && resumeFrom === 'breakpoint_tool_call') {
    const results = pending.map((callId) => ({ call_id: callId, content: messageBody }));
    return { request: { taskId, resumeFrom, body: '', toolResults: results }, warnings };
  }
  // Only the results of tools resume a breakpoint, and there are none.
  const from = resumeFrom === 'breakpoint_tool_call' ? 'user_response' : resumeFrom;
  return { request: { taskId, ...(from && { resumeFrom: from }), body: messageBody }, warnings };
}

/** A new task, which is told what was said before. */
export function planNewTask(prompt: LanguageModelV3Prompt, taskId: string): PlannedRequest {
  const { messageBody, warnings } = convertToMAILMessage(prompt, { transcript: true });
  return { request: { taskId, body: messageBody }, warnings };
}

/** What is before the newest words of the user. */
function dropLastUserMessages(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  return prompt.slice(0, prompt.findLastIndex(({ role }) => role !== 'user') + 1);
}

/** The task of the last answer. */
function findTaskId(prompt: LanguageModelV3Prompt): string | undefined {
  for (const message of prompt.toReversed()) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content.toReversed()) {
      const taskId = nameOf(fieldsOf(part.providerOptions?.mail).taskId);
      if (taskId !== undefined) return taskId;
    }
    // An answer of another model: the swarm has not seen it.
    return undefined;
  }
  return undefined;
}
