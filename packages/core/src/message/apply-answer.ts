import { MessageFold } from './message-fold.ts';
import type { MessageContent } from '../event/message.ts';
import type { Answer } from '../event/part-body.ts';
import type { ToolAnswer } from '../event/tool-result.ts';

/**
 * An answer that arrives outside a run, applied by the same fold: the content with the question answered or the call
 * settled. What is answered or settled already stays as it is; so does content that the answer does not refer to.
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
