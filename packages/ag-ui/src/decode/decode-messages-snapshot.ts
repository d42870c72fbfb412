import { asFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

/** State of the messages that were decoded before a snapshot. */
export interface KnownMessages {
  /** Whether the agent was sent the message. */
  isSent(messageId: string): boolean;
  isKnown(messageId: string): boolean;
  /** Whether the thread has the call. */
  hasCall(toolCallId: string): boolean;
  /** Whether a known call has no result yet. */
  isAwaitingResult(toolCallId: string): boolean;
}

/**
 * Selects the messages of a snapshot that belong to the current answer: those after the last message of the history. A snapshot
 * contains the complete thread.
 */
export function selectAnswer(messages: readonly Fields[], isHistory: (messageId: string) => boolean): Fields[] {
  let index = messages.findLastIndex(({ id }) => isHistory(String(id)));
  // An agent may rename all messages. Then the answer follows the user's last message.
  if (index === -1) index = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(index + 1);
}

/** Converts the unknown messages, calls and results of a snapshot to the events that would have streamed them. */
export function toMissingEvents(messages: readonly Fields[], known: KnownMessages): Fields[] {
  const events: Fields[] = [];
  const newCalls = new Set<string>();
  for (const message of messages) {
    const messageId = asNonEmptyText(message.id);
    if (messageId === undefined) continue;
    const isOld = known.isKnown(messageId);
    const fields = { messageId, subagentRunId: message.subagentRunId, metadata: message.metadata };
    const delta = asText(message.content);
    if (message.role === 'assistant') {
      if (!isOld && delta) {
        events.push({ type: 'TEXT_MESSAGE_START', ...fields, name: message.name });
        events.push({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta }, { type: 'TEXT_MESSAGE_END', messageId });
        pushEncrypted(events, 'message', messageId, message.encryptedValue);
      }
      for (const call of Array.isArray(message.toolCalls) ? message.toolCalls.map(asFields) : []) {
        const toolCallId = asNonEmptyText(call.id);
        if (toolCallId === undefined || known.hasCall(toolCallId) || known.isSent(messageId)) continue;
        newCalls.add(toolCallId);
        pushCall(events, call, toolCallId, message);
      }
    } else if (message.role === 'reasoning' && !isOld) {
      events.push({ type: 'REASONING_MESSAGE_START', ...fields });
      if (delta) events.push({ type: 'REASONING_MESSAGE_CONTENT', messageId, delta });
      events.push({ type: 'REASONING_MESSAGE_END', messageId });
      pushEncrypted(events, 'message', messageId, message.encryptedValue);
    } else if (message.role === 'activity' && !isOld) {
      events.push({
        ...fields,
        type: 'ACTIVITY_SNAPSHOT',
        activityType: message.activityType,
        content: message.content,
      });
    } else if (message.role === 'tool' && !isOld) {
      const { toolCallId, content, error, encryptedValue } = message;
      const isNew = newCalls.has(String(toolCallId)) || known.isAwaitingResult(String(toolCallId));
      if (isNew) events.push({ ...fields, type: 'TOOL_CALL_RESULT', toolCallId, content, error, encryptedValue });
    }
  }
  return events;
}

function pushCall(events: Fields[], call: Fields, toolCallId: string, message: Fields): void {
  const { name: toolCallName, arguments: delta } = asFields(call.function);
  const { subagentRunId } = message;
  const fields = { toolCallId, toolCallName, parentMessageId: message.id, subagentRunId, metadata: call.metadata };
  events.push({ type: 'TOOL_CALL_START', ...fields });
  events.push(
    { type: 'TOOL_CALL_ARGS', toolCallId, delta },
    { type: 'TOOL_CALL_END', toolCallId, metadata: call.metadata },
  );
  pushEncrypted(events, 'tool-call', toolCallId, call.encryptedValue);
}

function pushEncrypted(events: Fields[], subtype: string, entityId: string, encryptedValue: unknown): void {
  if (asNonEmptyText(encryptedValue) === undefined) return;
  events.push({ type: 'REASONING_ENCRYPTED_VALUE', subtype, entityId, encryptedValue });
}
