import { decodeMessage } from '@intertie/core';
import { toUIMessages } from '@intertie/ai-sdk';
import type { UIMessage } from 'ai';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { api } from '../api.ts';
import type { RunEvents } from '../inspect-types.ts';
import { noRun } from '../run-events.ts';
import { useFoldedRun } from './use-folded-run.ts';

/**
 * The messages with what agents said among themselves, which a chat is not told: the kept ones from the store, the one that is
 * being written from its run's events. By id; empty where it is not asked for.
 */
export function useInternalMessages(
  threadId: string,
  { isOn, events, version }: { isOn: boolean; events: RunEvents; version: unknown },
): ReadonlyMap<string, UIMessage> {
  const [kept, setKept] = useState<UIMessage[]>([]);
  useEffect(() => {
    if (!isOn) return undefined;
    let isOver = false;
    const ask = async (): Promise<void> => {
      const { messages } = await api.canonicalMessages(threadId);
      const decoded = messages.map((message) => decodeMessage(message));
      if (!isOver) setKept(toUIMessages(decoded, { includeInternal: true }));
    };
    ask().catch(() => undefined);
    return () => {
      isOver = true;
    };
  }, [threadId, isOn, version]);
  const { entries } = useSyncExternalStore(
    isOn ? events.subscribe : noRun.subscribe,
    isOn ? events.snapshot : noRun.snapshot,
  );
  const current = useFoldedRun(entries, { includeInternal: true });
  return useMemo(() => {
    const messages = new Map(isOn ? kept.map((message) => [message.id, message]) : []);
    if (isOn && current !== undefined) messages.set(current.id, current);
    return messages;
  }, [isOn, kept, current]);
}
