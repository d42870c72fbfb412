import { api, readError, type LiveRun } from '../../api.ts';
import { abortWhenHidden, waitUntilVisible } from '../../connection/tab-connections.ts';
import { readSSE, type SSEEvent } from '../../connection/sse.ts';
import { acquireThreadSlot } from '../../connection/stream-slots.ts';

/** Change of a thread: its live run changed, or a message did. */
export type ThreadChange = { type: 'live'; live: LiveRun | null } | { type: 'message'; messageId: string };

/** State of a thread that was read before its events: its version and its live run. */
export type ThreadPosition = { version: number; live: LiveRun | undefined };

const minRetryMs = 250;
const maxRetryMs = 10_000;

const delay = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/**
 * Follows a thread until the signal aborts. Browsers allow six HTTP/1.1 connections per server across all tabs, so of the tabs
 * that show the same thread one visible tab reads its events and broadcasts them. Tabs with different threads share a slot. Starts
 * after `position`, or, if it is undefined, with the current live run.
 */
export function followThread(options: {
  threadId: string;
  position: Promise<ThreadPosition | undefined>;
  onChange: (change: ThreadChange) => void;
  signal: AbortSignal;
}): void {
  const { threadId, position, onChange, signal } = options;
  const name = `intertie:thread:${threadId}`;
  const channel = new BroadcastChannel(name);
  channel.addEventListener('message', ({ data }) => onChange(data as ThreadChange));
  signal.addEventListener('abort', () => channel.close());
  const publish = (change: ThreadChange): void => {
    if (signal.aborted) return;
    onChange(change);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
    channel.postMessage(change);
  };
  const reader = new ThreadEventReader(threadId, publish);
  void position.then((from) => {
    if (from) reader.startAfter(from);
    return leadWhileVisible(name, (visible) => reader.follow(visible), signal);
  });
}

/** Runs `lead` in one of the visible tabs that call this with the same name. */
async function leadWhileVisible(
  name: string,
  lead: (visible: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  // Web Locks exist in secure contexts only; without them every tab reads for itself.
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  while (!signal.aborted) {
    await waitUntilVisible(signal);
    const visible = abortWhenHidden(signal);
    const leading = locks === undefined ? lead(visible) : locks.request(name, { signal: visible }, () => lead(visible));
    await leading.catch(() => delay(minRetryMs));
  }
}

/** Reads the events of a thread over any number of connections. */
class ThreadEventReader {
  #threadId: string;
  #publish: (change: ThreadChange) => void;
  #since: string | undefined;
  #live: string | undefined;
  /** Whether the connection was lost: changes may have been missed, and the page may show an error. */
  #wasLost = false;

  constructor(threadId: string, publish: (change: ThreadChange) => void) {
    this.#threadId = threadId;
    this.#publish = publish;
  }

  startAfter({ version, live }: ThreadPosition): void {
    this.#since = String(version);
    this.#live = JSON.stringify(live ?? null);
  }

  async follow(signal: AbortSignal): Promise<void> {
    for (let waitMs = minRetryMs; !signal.aborted; waitMs = Math.min(waitMs * 2, maxRetryMs)) {
      try {
        const slot = await acquireThreadSlot(signal);
        await this.#read(AbortSignal.any([signal, slot.revoked]), () => (waitMs = minRetryMs)).finally(slot.release);
      } catch {
        // The next iteration connects again.
        this.#wasLost = true;
      }
      if (signal.aborted) return;
      await delay(waitMs);
    }
  }

  async #read(signal: AbortSignal, onEvents: () => void): Promise<void> {
    const response = await fetch(api.urls.threadEvents(this.#threadId, this.#since), { signal });
    if (!response.ok || response.body === null) throw await readError(response);
    for await (const events of readSSE(response.body)) {
      onEvents();
      for (const event of events) this.#handleEvent(event);
    }
  }

  #handleEvent({ id, event, data }: SSEEvent): void {
    if (event === 'live') this.#handleLive(data);
    else if (event === 'change') {
      const { messageId } = JSON.parse(data) as { messageId: string };
      this.#publish({ type: 'message', messageId });
    }
    if (id !== '') this.#since = id;
  }

  /** Every connection starts with the live run. Publishes it if it changed, or if changes may have been missed. */
  #handleLive(data: string): void {
    if (data === this.#live && this.#since !== undefined && !this.#wasLost) return;
    this.#wasLost = false;
    this.#live = data;
    this.#publish({ type: 'live', live: JSON.parse(data) as LiveRun | null });
  }
}
