import type { Message } from '@ag-ui/core';

/**
 * Returns the snapshots that bring a client from the messages it has to the given ones, in the given order. Usually one. But a
 * client keeps known messages in place and appends new ones, so a result that arrived after the next text started would end up
 * behind that text. Then a first snapshot removes the messages in the way.
 */
export function snapshotsFor(known: readonly Message[], messages: Message[]): Message[][] {
  const wanted = getIds(messages);
  const producesOrder = (snapshots: ReadonlyArray<readonly Message[]>): boolean => {
    const given = getIds(snapshots.reduce(afterSnapshot, known));
    return given.length === wanted.length && given.every((id, index) => id === wanted[index]);
  };
  if (producesOrder([messages])) return [messages];
  for (let length = messages.length - 1; length >= 0; length -= 1) {
    const snapshots = [messages.slice(0, length), messages];
    if (producesOrder(snapshots)) return snapshots;
  }
  return [messages];
}

/** Applies a snapshot like a client does. Known reasoning is retained if the snapshot contains none. */
function afterSnapshot(known: readonly Message[], snapshot: readonly Message[]): Message[] {
  const updated = new Map(snapshot.map((message) => [message.id, message]));
  const hasReasoning = snapshot.some(({ role }) => role === 'reasoning');
  const retained = known.flatMap(
    (message) => updated.get(message.id) ?? (isRetained(message, hasReasoning) ? [message] : []),
  );
  const ids = new Set(getIds(retained));
  return [...retained, ...snapshot.filter(({ id }) => !ids.has(id))];
}

function isRetained({ role }: Message, hasReasoning: boolean): boolean {
  return role === 'reasoning' && !hasReasoning;
}

function getIds(messages: readonly Message[]): string[] {
  return messages.map(({ id }) => id);
}
