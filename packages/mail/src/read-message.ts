import { fieldsOf, listOf, nameOf, textOf } from './fields.ts';

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
  swarm?: string;
};

/** The `full_message` of a `new_message`. Its twin in the description is unescaped XML, and not read. */
export function readMessage(fullMessage: unknown): ReadMessage | undefined {
  const { id, msg_type: type, message } = fieldsOf(fullMessage);
  const { sender, recipient, recipients, subject, body, sender_swarm: swarm } = fieldsOf(message);
  const { address_type: senderType, address } = fieldsOf(sender);
  const name = nameOf(address);
  if (name === undefined || typeof senderType !== 'string' || typeof type !== 'string') return undefined;
  const addresses = recipient === undefined ? listOf(recipients) : [recipient];
  return {
    id: textOf(id) ?? '',
    type,
    senderType,
    sender: name,
    to: addresses.flatMap((one) => nameOf(fieldsOf(one).address) ?? []),
    subject: textOf(subject) ?? '',
    body: typeof body === 'string' ? body : (JSON.stringify(body) ?? ''),
    ...(typeof swarm === 'string' && senderType !== 'agent' && { swarm }),
  };
}
