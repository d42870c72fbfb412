// @ts-check
/** @import { MessageInput, MessagePart } from '@intertie/core' */

const words = 'the quick brown fox jumps over the lazy dog and then some '.repeat(40);

/**
 * A question of 200 characters, or an answer that has thought, called a tool and spoken: the mix of a real conversation.
 * @param {string} threadId
 * @param {string} id
 * @param {number} n
 * @returns {MessageInput}
 */
export function ourMessage(threadId, id, n) {
  const isQuestion = n % 2 === 0;
  return {
    id,
    threadId,
    role: isQuestion ? 'user' : 'assistant',
    createdAt: new Date(1_700_000_000_000 + n),
    type: 'text',
    content: { format: 2, parts: isQuestion ? [{ type: 'text', text: words.slice(0, 200) }] : answerParts(id) },
  };
}

/**
 * @param {string} id
 * @returns {MessagePart[]}
 */
function answerParts(id) {
  return [
    { type: 'reasoning', reasoning: words.slice(0, 400) },
    {
      type: 'tool-invocation',
      toolCallId: `call_${id}`,
      toolName: 'search',
      state: 'result',
      args: { query: words.slice(0, 100) },
      result: { found: words.slice(0, 1100) },
    },
    { type: 'text', text: words.slice(0, 800) },
  ];
}

/**
 * The same as Mastra stores it.
 * @param {string} threadId
 * @param {string} id
 * @param {number} n
 */
export function mastraMessage(threadId, id, n) {
  const { role, createdAt } = ourMessage(threadId, id, n);
  const toolInvocation = {
    state: /** @type {const} */ ('result'),
    toolCallId: `call_${id}`,
    toolName: 'search',
    args: { query: words.slice(0, 100) },
    result: { found: words.slice(0, 1100) },
  };
  const text = words.slice(0, role === 'user' ? 200 : 800);
  const parts =
    role === 'user'
      ? [{ type: 'text', text }]
      : [
          { type: 'reasoning', reasoning: words.slice(0, 400), details: [{ type: 'text', text: words.slice(0, 400) }] },
          { type: 'tool-invocation', toolInvocation },
          { type: 'text', text },
        ];
  return {
    id,
    threadId,
    resourceId: 'bench',
    role,
    createdAt,
    type: 'v2',
    content: { format: 2, content: text, parts },
  };
}
