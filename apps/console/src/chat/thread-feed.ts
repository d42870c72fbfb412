import { api, errorOf, type LiveRun } from '../api.ts';
import { readSSE } from '../sse.ts';

/** What a thread's feed says: which run is live now, or that a message is another one. */
export type ThreadNews = { type: 'live'; live: LiveRun | null } | { type: 'change'; messageId: string };

const maxWaitMs = 10_000;

/**
 * Listens to a thread until the signal. A browser has six connections to a server for all its tabs, so of those that show the
 * same thread one listens and tells the others; when it is closed, the next one does.
 */
export function listenToThread(threadId: string, onNews: (news: ThreadNews) => void, signal: AbortSignal): void {
  const name = `intertie:thread:${threadId}`;
  const channel = new BroadcastChannel(name);
  channel.addEventListener('message', ({ data }) => onNews(data as ThreadNews));
  signal.addEventListener('abort', () => channel.close());
  const tell = (news: ThreadNews): void => {
    if (signal.aborted) return;
    onNews(news);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
    channel.postMessage(news);
  };
  const lead = (): Promise<void> => follow(threadId, tell, signal);
  // Outside of a secure context there are no locks: then each tab listens for itself.
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  const leading = locks === undefined ? lead() : locks.request(name, { signal }, lead);
  leading.catch(() => undefined);
}

async function follow(threadId: string, tell: (news: ThreadNews) => void, signal: AbortSignal): Promise<void> {
  let since: string | undefined;
  for (let waitMs = 250; !signal.aborted; waitMs = Math.min(waitMs * 2, maxWaitMs)) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one connection after the other
      const response = await fetch(api.urls.threadEvents(threadId, since), { signal });
      // oxlint-disable-next-line no-await-in-loop
      if (!response.ok || response.body === null) throw await errorOf(response);
      // oxlint-disable-next-line no-await-in-loop
      for await (const { id, event, data } of readSSE(response.body)) {
        waitMs = 250;
        if (id !== '') since = id;
        if (event === 'live') tell({ type: 'live', live: JSON.parse(data) as LiveRun | null });
        else if (event === 'change')
          tell({ type: 'change', messageId: (JSON.parse(data) as { messageId: string }).messageId });
      }
    } catch {
      // Asked again below.
    }
    // oxlint-disable-next-line no-await-in-loop
    await new Promise((resolve) => {
      setTimeout(resolve, waitMs);
    });
  }
}
