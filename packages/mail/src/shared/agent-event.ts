import { findEventAgent } from './find-event-agent.ts';
import { asFields, parseJson, asText } from './fields.ts';
import type { MAILEvent, MAILFrame, UnknownMAILEvent } from './mail-event.ts';
import { readMessage } from './read-message.ts';

/** MAIL event that names the agent that caused it. */
export type MAILAgentEvent = { type: 'mail-agent-event'; agent: string; description: string; event: MAILEvent };
/** MAIL event about the task, or one whose agent is unknown. */
export type MAILPlainEvent = { type: 'mail-event'; description: string; event: MAILEvent | UnknownMAILEvent };

/** Converts a frame to the event passed to `onEvent` and `mailEvents`. Returns undefined for a ping. */
export function toAgentEvent({ event, data }: MAILFrame): MAILAgentEvent | MAILPlainEvent | undefined {
  if (event === 'ping') return undefined;
  const parsed = typeof data === 'string' ? (parseJson(data) ?? data) : data;
  const { description, response, extra_data: extra } = asFields(parsed);
  const text = asText(description) ?? asText(response) ?? '';
  // Cast without validation: the types describe what MAIL 1.3 documents, and nothing here depends on them.
  const parsedEvent = { event, data: parsed } as MAILEvent;
  const agent = event === 'new_message' ? findSendingAgent(extra) : findEventAgent(event, text, asFields(extra));
  if (agent === undefined) return { type: 'mail-event', description: text, event: parsedEvent };
  return { type: 'mail-agent-event', agent, description: text, event: parsedEvent };
}

function findSendingAgent(extra: unknown): string | undefined {
  const message = readMessage(asFields(extra).full_message);
  return message?.senderType === 'agent' ? message.sender : undefined;
}
