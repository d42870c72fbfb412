import { asFields, listOf, asNonEmptyText, asText } from './fields.ts';

/** A message between a user, agents and the system, as far as it can be read. */
export type ReadMessage = {
  id: string;
  type: string;
  senderType: string;
  sender: string;
  to: string[];
  subject: string;
  body: string;
  /** The swarm's name, where the message says it: those of users and of the system do. */
  swarm: string | undefined;
};

/** The `full_message` of a `new_message`. Its twin in the description is unescaped XML, and not read. */
export function readMessage(fullMessage: unknown): ReadMessage | undefined {
  const { id, msg_type: type, message } = asFields(fullMessage);
  const { sender, recipient, recipients, subject, body, sender_swarm: swarm } = asFields(message);
  const { address_type: senderType, address } = asFields(sender);
  const name = asNonEmptyText(address);
  if (name === undefined || typeof senderType !== 'string' || typeof type !== 'string') return undefined;
  const to: string[] = [];
  for (const one of recipient === undefined ? listOf(recipients) : [recipient]) {
    const receiver = asNonEmptyText(asFields(one).address);
    if (receiver !== undefined) to.push(receiver);
  }
  return {
    id: asText(id) ?? '',
    type,
    senderType,
    sender: name,
    to,
    subject: asText(subject) ?? '',
    body: typeof body === 'string' ? body : (JSON.stringify(body) ?? ''),
    swarm: typeof swarm === 'string' && senderType !== 'agent' ? swarm : undefined,
  };
}
