import type { RunRecord, Store } from '@intertie/core';
import type { MessageChange } from '@intertie/core/store';
import { toLiveInfo } from './api.ts';
import { sseResponse, toSSEBytes, type SSEvent } from '../http/sse.ts';

/** How often to look where hints arrive, and where they do not. */
const pollMs = { connected: 5_000, alone: 500 };

/**
 * What changes in a thread, as it changes: messages, and which run is live. The thread need not exist yet. It begins with who is
 * live, and never ends by itself.
 */
export function threadFeed(store: Store, threadId: string, since: number | undefined): Response {
  return sseResponse((signal) => changesOf(store, threadId, since, signal));
}

async function* changesOf(
  store: Store,
  threadId: string,
  from: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let since = from ?? (await store.getVersion({ threadId }));
  let live: RunRecord | null | undefined;
  let isNudged = false;
  let wake: (() => void) | undefined;
  const nudge = (): void => {
    isNudged = true;
    wake?.();
  };
  const unsubscribe = store.hints.subscribe((hint) => {
    if (hint.type === 'thread' && hint.threadId === threadId && hint.scope === store.scope) nudge();
  });
  signal.addEventListener('abort', nudge);
  const waitForNudge = (): Promise<void> =>
    new Promise((resolve) => {
      if (isNudged) return resolve();
      const ms = store.hints.isConnected?.() === false ? pollMs.alone : pollMs.connected;
      const timer = setTimeout(() => wake?.(), ms);
      wake = () => {
        clearTimeout(timer);
        wake = undefined;
        resolve();
      };
      return undefined;
    });
  try {
    while (!signal.aborted) {
      isNudged = false;
      const now = await store.registry.liveRun(store.scope, { threadId });
      if (live === undefined || now?.key !== live?.key) {
        live = now;
        yield toSSEBytes([{ event: 'live', data: toLiveInfo(now) ?? null }]);
      }
      const changes = await store.listChanges({ threadId, since, limit: 200 });
      if (changes.length > 0) {
        since = changes.at(-1)!.version;
        yield toSSEBytes(changes.map(toEvent));
        continue;
      }
      await waitForNudge();
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', nudge);
  }
}

/** Who comes back names the last id it has seen, and a version is seen when all of it is. */
function toEvent(change: MessageChange, index: number, changes: readonly MessageChange[]): SSEvent {
  const isLast = changes[index + 1]?.version !== change.version;
  return { ...(isLast && { id: String(change.version) }), event: 'change', data: describe(change) };
}

function describe(change: MessageChange): unknown {
  const { version } = change;
  if (change.type === 'tombstone') return { version, type: 'tombstone', messageId: change.messageId };
  const { id: messageId, role, status, runId } = change.message;
  return { version, type: 'message', messageId, role, status, runId };
}
