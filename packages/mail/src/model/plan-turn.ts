import type { LanguageModelV3Prompt, SharedV3Warning } from '@ai-sdk/provider';
import { convertToMAILMessage } from './convert-to-mail-message.ts';
import { asFields, asNonEmptyText } from '../shared/fields.ts';
import type { MAILModelSettings } from '../shared/mail-settings.ts';
import type { MAILTurn } from '../client/mail-turn.ts';
import { isResumeToken, readResumeToken } from '../shared/resume-token.ts';

export type PlannedTurn = { turn: MAILTurn; warnings: SharedV3Warning[] };

/**
 * Which task a prompt goes on with, and with what. The ids of tasks are in the metadata of the answers, so the history is
 * enough: results of breakpoint tools at its end resume the paused task, a new user message the finished one. Without
 * `resume_from` a finished task would drop the message and ping forever.
 */
export function planTurn(
  prompt: LanguageModelV3Prompt,
  settings: MAILModelSettings,
  { generateId, canAnswer }: { generateId: () => string; canAnswer: boolean },
): PlannedTurn {
  const known = taskOf(prompt);
  const paused = readResumeToken(settings.resumeFrom) ?? readResumeToken(settings.taskId);
  const taskId = paused?.taskId ?? asNonEmptyText(settings.taskId) ?? known;
  // The calls of a token are pending only as long as no answer of the task follows them.
  const pending = paused !== undefined && taskId !== known ? paused.calls : [];
  const isKnown = taskId !== undefined && taskId === known;
  const fallback = pending.length > 0 ? 'breakpoint_tool_call' : isKnown ? 'user_response' : undefined;
  const resumeFrom = isResumeToken(settings.resumeFrom) ? fallback : (settings.resumeFrom ?? fallback);
  const { messageBody, toolResults, warnings } = convertToMAILMessage(prompt, {
    includeSystem: resumeFrom === undefined,
  });
  if (toolResults.length > 0 && taskId !== undefined) {
    return { turn: { taskId, resumeFrom: 'breakpoint_tool_call', body: '', toolResults }, warnings };
  }
  if (taskId === undefined) return freshTurn(prompt, generateId());
  const { toolResults: answered } = convertToMAILMessage(withoutLastWords(prompt));
  if (answered.length > 0 && messageBody !== '' && canAnswer) {
    // A call that stays without a result is refused by the agent's model, and the body is not read: the words come with it.
    const last = answered.at(-1)!;
    const spoken = { ...last, content: `${last.content}\n\nThe user adds: ${messageBody}` };
    const all = [...answered.slice(0, -1), spoken];
    return { turn: { taskId, resumeFrom: 'breakpoint_tool_call', body: '', toolResults: all }, warnings };
  }
  if (pending.length > 0 && resumeFrom === 'breakpoint_tool_call') {
    const results = pending.map((callId) => ({ call_id: callId, content: messageBody }));
    return { turn: { taskId, resumeFrom, body: '', toolResults: results }, warnings };
  }
  // Only the results of tools resume a breakpoint, and there are none.
  const from = resumeFrom === 'breakpoint_tool_call' ? 'user_response' : resumeFrom;
  return { turn: { taskId, ...(from && { resumeFrom: from }), body: messageBody }, warnings };
}

/** A new task, which is told what was said before. */
export function freshTurn(prompt: LanguageModelV3Prompt, taskId: string): PlannedTurn {
  const { messageBody, warnings } = convertToMAILMessage(prompt, { transcript: true });
  return { turn: { taskId, body: messageBody }, warnings };
}

/** What is before the newest words of the user. */
function withoutLastWords(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  return prompt.slice(0, prompt.findLastIndex(({ role }) => role !== 'user') + 1);
}

/** The task of the last answer. */
function taskOf(prompt: LanguageModelV3Prompt): string | undefined {
  for (const message of prompt.toReversed()) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content.toReversed()) {
      const taskId = asNonEmptyText(asFields(part.providerOptions?.mail).taskId);
      if (taskId !== undefined) return taskId;
    }
    // An answer of another model: the swarm has not seen it.
    return undefined;
  }
  return undefined;
}
