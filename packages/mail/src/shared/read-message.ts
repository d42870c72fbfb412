import { fieldsOf, listOf, nameOf, textOf } from './fields.ts';

/** Normalized message between a user, agents and the system. */
export type ReadMessage = {
  id: string;
  type: string;
  senderType: string;
  sender: string;
  to: string[];
  subject: string;
  body: string;
  /** Name of the swarm. Only messages of users and of the system contain it. */
  swarm: string | undefined;
};

/** Reads the `full_message` of a `new_message`. The description repeats it as unescaped XML, which is not read. */
export function readMessage(fullMessage: unknown): ReadMessage | undefined {
  const { id, msg_type: type, message } = fieldsOf(fullMessage);
  const { sender, recipient, recipients, subject, body, sender_swarm: swarm } = fieldsOf(message);
  const { address_type: senderType, address } = fieldsOf(sender);
  const name = nameOf(address);
  if (name === undefined || typeof senderType !== 'string' || typeof type !== 'string') return undefined;
  const to: string[] = [];
  for (const one of recipient === undefined ? listOf(recipients) : [recipient]) {
    const receiver = nameOf(fieldsOf(one).address);
    if (receiver !== undefined) to.push(receiver);
  }
  return {
    id: textOf(id) ?? '',
    type,
    senderType,
    sender: name,
    to,
    subject: textOf(subject) ?? '',
    body: typeof body === 'string' ? body : (JSON.stringify(body) ?? ''),
    swarm: typeof swarm === 'string' && senderType !== 'agent' ? swarm : undefined,
  };
}
