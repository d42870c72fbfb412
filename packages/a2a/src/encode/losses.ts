import type { MessagePart } from '@intertie/core';
import type { AgentEventType } from '@intertie/core/internal';

/**
 * Names of the information that is lost with an event. Absent for events that only extend or end a part, whose start reports the
 * loss, and for questions, which the status of a paused task contains.
 */
export const losses: { readonly [Type in AgentEventType]?: string } = {
  'message-snapshot': 'removed parts of a message',
  metadata: 'metadata',
  'agent-start': 'agent',
  'step-start': 'step',
  'text-start': 'text between agents',
  'reasoning-start': 'reasoning',
  'tool-input-start': 'tool call',
  'tool-call': 'tool call',
  'tool-result': 'tool result',
  answer: 'answer',
  interjection: 'interjection',
  file: 'file',
  source: 'source',
  data: 'transient data',
  'data-delta': 'change of data',
  'state-snapshot': 'state',
  'state-delta': 'state',
  notice: 'notice',
  raw: 'raw frame',
};

/** Names of the parts of a message that a task leaves out. */
export const partLosses: { readonly [Type in MessagePart['type']]?: string } = {
  reasoning: 'reasoning',
  'tool-invocation': 'tool call',
  source: 'source',
};
