import type { RunRecord, Store } from '@intertie/core';
import type { MessageChange } from '@intertie/core/store';
import { toLiveInfo } from './api.ts';
import { sseResponse, toSSEBytes, type SSEvent } from '../http/sse.ts';

/** Poll intervals with and without a connection that receives hints. */
const pollMs = { connected: 5_000, alone: 500 };

/**
 * Streams the changes of a thread: its messages, and which run is live. Starts with the live run and never ends on its own. The
 * thread need not exist yet.
 */
export function streamThreadEvents(store: Store, threadId: string, since: number | undefined): Response {
  return sseResponse((signal) => readChanges(store, threadId, since, signal));
}

async function* readChanges(
  store: Store,
  threadId: string,
  from: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let since = from ?? (await store.getVersion({ threadId }));
  let live: RunRecord | null | undefined;
  let hasHint = false;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    hasHint = true;
    wake?.();
  };
  const unsubscribe = store.hints.subscribe((hint) => {
    if (hint.type === 'thread' && hint.threadId === threadId && hint.scope === store.scope) notify();
  });
  signal.addEventListener('abort', notify);
  const waitForHint = (): Promise<void> =>
    new Promise((resolve) => {
      if (hasHint) return resolve();
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
      hasHint = false;
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
      await waitForHint();
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', notify);
  }
}

/** Only the last change of a version has an id, so that a client that reconnects never skips a part of a version. */
function toEvent(change: MessageChange, index: number, changes: readonly MessageChange[]): SSEvent {
  const isLast = changes[index + 1]?.version !== change.version;
  return { ...(isLast && { id: String(change.version) }), event: 'change', data: toChangeData(change) };
}

function toChangeData(change: MessageChange): unknown {
  const { version } = change;
  if (change.type === 'tombstone') return { version, type: 'tombstone', messageId: change.messageId };
  const { id: messageId, role, status, runId } = change.message;
  return { version, type: 'message', messageId, role, status, runId };
}
