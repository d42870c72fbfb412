// @ts-check
import { createProse } from './prose.mjs';

/** @import { MessagePart } from '@intertie/core';
import { MessageInput } from '@intertie/core/store' */

const prose = createProse(100_000);
/** Creates different text for each message and field. @param {number} n @param {number} field @param {number} length */
const createText = (n, field, length) => {
  const from = ((n * 7 + field) * 997) % (prose.length - length);
  return prose.slice(from, from + length);
};

/**
 * Creates a question of 200 characters, or an answer with reasoning, a tool call and text: the mix of a real conversation.
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
    content: { format: 2, parts: isQuestion ? [{ type: 'text', text: createText(n, 0, 200) }] : answerParts(id, n) },
  };
}

/**
 * @param {string} id
 * @param {number} n
 * @returns {MessagePart[]}
 */
function answerParts(id, n) {
  return [
    { type: 'reasoning', reasoning: createText(n, 1, 400) },
    {
      type: 'tool-invocation',
      toolCallId: `call_${id}`,
      toolName: 'search',
      state: 'result',
      args: { query: createText(n, 2, 100) },
      result: { found: createText(n, 3, 1100) },
    },
    { type: 'text', text: createText(n, 0, 800) },
  ];
}

/**
 * Creates the same message in Mastra's format.
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
    args: { query: createText(n, 2, 100) },
    result: { found: createText(n, 3, 1100) },
  };
  const text = createText(n, 0, role === 'user' ? 200 : 800);
  const parts =
    role === 'user'
      ? [{ type: 'text', text }]
      : [
          {
            type: 'reasoning',
            reasoning: createText(n, 1, 400),
            details: [{ type: 'text', text: createText(n, 1, 400) }],
          },
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
