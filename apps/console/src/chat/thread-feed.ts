import { api, errorOf, type LiveRun } from '../api.ts';
import { untilHidden, whenSeen } from '../shared-wire.ts';
import { readSSE, type SSEEvent } from '../sse.ts';
import { feedTurns } from '../wire-turns.ts';

/** What a thread's feed says: which run is live now, or that a message is another one. */
export type ThreadNews = { type: 'live'; live: LiveRun | null } | { type: 'change'; messageId: string };

const retryMs = 250;
const maxWaitMs = 10_000;

const rest = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/**
 * Listens to a thread until the signal. A browser has six connections to a server for all its tabs, so of those that show the
 * same thread one that is seen listens and tells the others, and those that show different ones take turns.
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
  const feed = new ThreadFeed(threadId, tell);
  void leadWhileSeen(name, (seen) => feed.follow(seen), signal);
}

async function leadWhileSeen(
  name: string,
  lead: (seen: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  // Outside of a secure context there are no locks: then each tab listens for itself.
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  while (!signal.aborted) {
    // oxlint-disable-next-line no-await-in-loop -- one time after the other
    await whenSeen(signal);
    const seen = untilHidden(signal);
    const leading = locks === undefined ? lead(seen) : locks.request(name, { signal: seen }, () => lead(seen));
    // oxlint-disable-next-line no-await-in-loop
    await leading.catch(() => rest(retryMs));
  }
}

/** A thread's feed over many connections. */
class ThreadFeed {
  #threadId: string;
  #tell: (news: ThreadNews) => void;
  #since: string | undefined;
  #live: string | undefined;

  constructor(threadId: string, tell: (news: ThreadNews) => void) {
    this.#threadId = threadId;
    this.#tell = tell;
  }

  async follow(signal: AbortSignal): Promise<void> {
    for (let waitMs = retryMs; !signal.aborted; waitMs = Math.min(waitMs * 2, maxWaitMs)) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one connection after the other
        const turn = await feedTurns(signal);
        // oxlint-disable-next-line no-await-in-loop
        await this.#read(AbortSignal.any([signal, turn.over]), () => (waitMs = retryMs)).finally(turn.done);
      } catch {
        // Asked again below.
      }
      if (signal.aborted) return;
      // oxlint-disable-next-line no-await-in-loop
      await rest(waitMs);
    }
  }

  async #read(signal: AbortSignal, onWord: () => void): Promise<void> {
    const response = await fetch(api.urls.threadEvents(this.#threadId, this.#since), { signal });
    if (!response.ok || response.body === null) throw await errorOf(response);
    for await (const events of readSSE(response.body)) {
      onWord();
      for (const event of events) this.#hear(event);
    }
  }

  #hear({ id, event, data }: SSEEvent): void {
    if (event === 'live') this.#hearLive(data);
    else if (event === 'change') {
      const { messageId } = JSON.parse(data) as { messageId: string };
      this.#tell({ type: 'change', messageId });
    }
    if (id !== '') this.#since = id;
  }

  /** Each connection begins with it. It is news where it differs, or where changes may have been missed in between. */
  #hearLive(data: string): void {
    if (data === this.#live && this.#since !== undefined) return;
    this.#live = data;
    this.#tell({ type: 'live', live: JSON.parse(data) as LiveRun | null });
  }
}
