import type { Protocol } from '@intertie/core';
import { ModelMessageChecker } from './model-message-checker.ts';
import { modelMessageRules } from './model-message-rules.ts';
import { asFields } from '../shared/read-fields.ts';

const roles: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

/** The AI SDK's model messages. An item is one message of a history. */
export const modelMessages: Protocol = {
  name: 'model-messages',
  aliases: ['messages'],
  label: 'Model messages',
  title: 'a history of AI SDK model messages',
  framing: { mediaTypes: ['application/json'] },
  rules: modelMessageRules,
  looksLike: (item) => {
    const { role, content } = asFields(item);
    return roles.has(role) && (typeof content === 'string' || Array.isArray(content));
  },
  getKind: (item) => {
    const { role } = asFields(item);
    return typeof role === 'string' ? role : 'no message';
  },
  checker: () => new ModelMessageChecker(),
  examples: {
    check: [['intertie check history.json --as model-messages', 'Check whether providers accept a history:']],
  },
};
