// @ts-check
/** @import { UIMessage } from 'ai' */
/** @import { RequestOptions } from 'node:http' */

/**
 * Address and request format of a server.
 * @typedef {{ protocol: 'ui' | 'ag-ui', url: string, token?: string }} Endpoint
 * @typedef {{ words: number, everyMs?: number, waits?: boolean, after?: number, agents?: number }} Question see requested-model and crowd-source
 * @typedef {{ threadId?: string, history?: number }} Place stored thread, or number of earlier messages that the request must contain
 */

/** Marks a text delta on the wire. */
export const deltaTypes = { ui: 'text-delta', 'ag-ui': 'TEXT_MESSAGE_CONTENT' };

/**
 * Builds the request of a chat.
 * @param {Endpoint} endpoint
 * @param {Question} question
 * @param {Place} place
 * @returns {{ url: string, options: RequestOptions, body: string }}
 */
export function buildRequest({ protocol, url, token }, question, { threadId, history = 0 }) {
  const text = JSON.stringify(question);
  const id = crypto.randomUUID();
  const thread = threadId ?? crypto.randomUUID();
  const message = { id, role: 'user', parts: [{ type: 'text', text }] };
  const body =
    protocol === 'ui'
      ? {
          id: thread,
          trigger: 'submit-message',
          // A chat with a stored history sends only its last message.
          ...(threadId === undefined ? { messages: [...createHistory(history), message] } : { message }),
        }
      : {
          threadId: thread,
          runId: crypto.randomUUID(),
          messages: [{ id, role: 'user', content: text }],
          tools: [],
          context: [],
          state: {},
          forwardedProps: {},
        };
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream', ...authorization(token) };
  return { url, options: { method: 'POST', headers }, body: JSON.stringify(body) };
}

/** @param {string | undefined} token @returns {Record<string, string>} */
export function authorization(token) {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/**
 * Creates a conversation of so many messages, alternating questions and answers.
 * @param {number} count
 * @returns {UIMessage[]}
 */
export function createHistory(count) {
  return Array.from({ length: count }, (_, n) => ({
    id: `h${n}-${crypto.randomUUID()}`,
    role: n % 2 === 0 ? 'user' : 'assistant',
    parts: [
      { type: 'text', text: `${n % 2 === 0 ? 'What of' : 'This of'} number ${n}? `.repeat(n % 2 === 0 ? 2 : 10) },
    ],
  }));
}
