import { agentOf } from './agent-of-event.ts';
import { asFields, parseJson, asText } from './fields.ts';
import type { MAILEvent, MAILFrame, UnknownMAILEvent } from './mail-event.ts';
import { readMessage } from './read-message.ts';

/** Something that an agent did. */
export type MAILAgentEvent = { type: 'mail-agent-event'; agent: string; description: string; event: MAILEvent };
/** Something that happened to the task, or that no agent can be told of. */
export type MAILPlainEvent = { type: 'mail-event'; description: string; event: MAILEvent | UnknownMAILEvent };

/** A frame for people to look at. Pings are none. */
export function toAgentEvent({ event, data }: MAILFrame): MAILAgentEvent | MAILPlainEvent | undefined {
  if (event === 'ping') return undefined;
  const parsed = typeof data === 'string' ? (parseJson(data) ?? data) : data;
  const { description, response, extra_data: extra } = asFields(parsed);
  const text = asText(description) ?? asText(response) ?? '';
  // The types are what MAIL 1.3 promises; nothing here depends on them.
  const said = { event, data: parsed } as MAILEvent;
  const agent = event === 'new_message' ? senderOf(extra) : agentOf(event, text, asFields(extra));
  if (agent === undefined) return { type: 'mail-event', description: text, event: said };
  return { type: 'mail-agent-event', agent, description: text, event: said };
}

function senderOf(extra: unknown): string | undefined {
  const message = readMessage(asFields(extra).full_message);
  return message?.senderType === 'agent' ? message.sender : undefined;
}
