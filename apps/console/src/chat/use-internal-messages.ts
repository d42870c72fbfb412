import { decodeMessage } from '@intertie/core';
import { toUIMessages } from '@intertie/ai-sdk';
import type { UIMessage } from 'ai';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { api } from '../api.ts';
import type { RunEvents } from '../inspect-types.ts';
import { noRun } from '../run/run-events.ts';
import { useFoldedRun } from '../run/use-folded-run.ts';

/**
 * Returns messages including the internal parts between agents, which the chat stream omits. Stored messages come from the server,
 * the current one from its run's events. Keyed by message id; empty unless `isOn`.
 */
export function useInternalMessages(
  threadId: string,
  { isOn, events, version }: { isOn: boolean; events: RunEvents; version: unknown },
): ReadonlyMap<string, UIMessage> {
  const [stored, setStored] = useState<UIMessage[]>([]);
  useEffect(() => {
    if (!isOn) return undefined;
    let isUnmounted = false;
    const load = async (): Promise<void> => {
      const { messages } = await api.canonicalMessages(threadId);
      const decoded = messages.map((message) => decodeMessage(message));
      if (!isUnmounted) setStored(toUIMessages(decoded, { includeInternal: true }));
    };
    load().catch(() => undefined);
    return () => {
      isUnmounted = true;
    };
  }, [threadId, isOn, version]);
  const { entries } = useSyncExternalStore(
    isOn ? events.subscribe : noRun.subscribe,
    isOn ? events.snapshot : noRun.snapshot,
  );
  const current = useFoldedRun(entries, { includeInternal: true });
  return useMemo(() => {
    const messages = new Map(isOn ? stored.map((message) => [message.id, message]) : []);
    if (isOn && current !== undefined) messages.set(current.id, current);
    return messages;
  }, [isOn, stored, current]);
}
