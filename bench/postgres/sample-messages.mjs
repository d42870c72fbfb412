// @ts-check
/** @import { MessageInput } from '@intertie/core' */

const words = 'the quick brown fox jumps over the lazy dog and then some '.repeat(40);

/**
 * A question of 200 characters, or an answer that has thought, called a tool and spoken: the mix of a real conversation.
 * @param {string} threadId
 * @param {string} id
 * @param {number} n
 * @returns {MessageInput}
 */
export function ourMessage(threadId, id, n) {
  const createdAt = new Date(1_700_000_000_000 + n);
  const rest = { id, threadId, type: /** @type {const} */ ('text'), createdAt };
  if (n % 2 === 0) {
    return { ...rest, role: 'user', content: { format: 2, parts: [{ type: 'text', text: words.slice(0, 200) }] } };
  }
  return {
    ...rest,
    role: 'assistant',
    content: {
      format: 2,
      parts: [
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
      ],
    },
  };
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
