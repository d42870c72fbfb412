import type { Message } from '@ag-ui/core';

/**
 * The snapshots that bring a client from the messages that it has to these, in this order. One is mostly enough. But a client
 * leaves what it knows where it is and puts what is new behind: a result that came after the next words had begun would end up
 * behind them. Then a first one takes back what stands in the way.
 */
export function snapshotsFor(known: readonly Message[], messages: Message[]): Message[][] {
  const wanted = idsOf(messages);
  const isRight = (snapshots: ReadonlyArray<readonly Message[]>): boolean => {
    const given = idsOf(snapshots.reduce(afterSnapshot, known));
    return given.length === wanted.length && given.every((id, index) => id === wanted[index]);
  };
  if (isRight([messages])) return [messages];
  for (let length = messages.length - 1; length >= 0; length -= 1) {
    const snapshots = [messages.slice(0, length), messages];
    if (isRight(snapshots)) return snapshots;
  }
  return [messages];
}

/** What a client makes of a snapshot. Reasoning that it knows stays, where the snapshot has none. */
function afterSnapshot(known: readonly Message[], snapshot: readonly Message[]): Message[] {
  const told = new Map(snapshot.map((message) => [message.id, message]));
  const hasReasoning = snapshot.some(({ role }) => role === 'reasoning');
  const kept = known.flatMap((message) => told.get(message.id) ?? (isKept(message, hasReasoning) ? [message] : []));
  const ids = new Set(idsOf(kept));
  return [...kept, ...snapshot.filter(({ id }) => !ids.has(id))];
}

function isKept({ role }: Message, hasReasoning: boolean): boolean {
  return role === 'reasoning' && !hasReasoning;
}

function idsOf(messages: readonly Message[]): string[] {
  return messages.map(({ id }) => id);
}
