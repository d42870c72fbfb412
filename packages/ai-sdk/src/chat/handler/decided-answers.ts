import type { Answer, MessageContent } from '@intertie/core';
import type { Decision, ToolAnswer } from '@intertie/core/store';
import { takeAnswers } from './chat-answers.ts';
import { defined } from '../../shared/read-fields.ts';

/**
 * What a chat's message says to the decisions of a run, and nothing else of it: a result for a call that nobody has asked
 * the chat for is not an answer, whatever it looks like.
 */
export function decidedAnswers(content: MessageContent, decisions: readonly Decision[]): Array<Answer | ToolAnswer> {
  const waitingFor = decisions.map(({ id, kind }) =>
    kind === 'client-tool' ? { type: 'tool' as const, toolCallId: id } : { type: 'question' as const, questionId: id },
  );
  const tools = new Set(decisions.filter(({ kind }) => kind === 'client-tool').map(({ id }) => id));
  return takeAnswers(content, waitingFor).answers.flatMap((answer): Array<Answer | ToolAnswer> => {
    if ('toolCallId' in answer) return tools.has(answer.toolCallId) ? [answer] : [];
    const { questionId, approved, value, cancelled, reason } = answer;
    return [{ questionId, ...defined({ approved, value, cancelled, reason }) }];
  });
}
