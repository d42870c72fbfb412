import { MessageFold } from './message-fold.ts';
import type { MessageContent } from '../event/message.ts';
import type { Answer } from '../event/part-body.ts';
import type { ToolAnswer } from '../event/tool-result.ts';

/**
 * Applies an answer that arrives outside a run: answers the question or settles the call, with the same fold. Content that is
 * already answered or settled, or that the answer does not refer to, stays as it is.
 */
export function applyAnswer(content: MessageContent, answer: Answer | ToolAnswer): MessageContent {
  const fold = new MessageFold({
    id: '',
    threadId: '',
    role: 'assistant',
    type: 'text',
    content,
    createdAt: new Date(0),
  });
  fold.feed('questionId' in answer ? { type: 'answer', ...answer } : { type: 'tool-result', ...answer });
  return fold.snapshot().message.content;
}
