import { asFields, asArray, asNonEmptyText, asText } from './fields.ts';

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
  const { id, msg_type: type, message } = asFields(fullMessage);
  const { sender, recipient, recipients, subject, body, sender_swarm: swarm } = asFields(message);
  const { address_type: senderType, address } = asFields(sender);
  const name = asNonEmptyText(address);
  if (name === undefined || typeof senderType !== 'string' || typeof type !== 'string') return undefined;
  const to: string[] = [];
  for (const one of recipient === undefined ? asArray(recipients) : [recipient]) {
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
