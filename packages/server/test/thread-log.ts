import { setTimeout as sleep } from 'node:timers/promises';

import type { AgentEvent } from '@intertie/core';
import type { UIMessage } from 'ai';

import { readEvents } from './client.ts';

/** Sends a request again if its node is shutting down. */
export const fetchFromAny: typeof fetch = async (input, init) => {
  for (;;) {
    const response = await fetch(input, init).catch(() => undefined);
    if (response && response.status < 500) return response;
    await sleep(100);
  }
};

/** Reads the canonical events of a run. After each failure it continues from the last event id. */
export async function followToEnd(
  base: string,
  runId: string,
  onEvent: (event: AgentEvent) => void = () => undefined,
  load: typeof fetch = fetch,
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  let last: string | undefined;
  for (;;) {
    try {
      const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last };
      const response = await load(`${base}/api/runs/${runId}/events`, { headers });
      if (!response.ok) throw new Error(await response.text());
      for await (const { id, event, data } of readEvents(response)) {
        // Another process has taken over the run, and its log restarts.
        if (event === 'reset') events.length = 0;
        else events.push(data as AgentEvent);
        last = id ?? last;
        if (event !== 'reset') onEvent(data as AgentEvent);
      }
    } catch {
      // Cut off: waits until a node is back, then continues from the last event.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    if (events.at(-1)?.type === 'run-end') return events;
  }
}

/** Reads the last run of a thread to its end. Returns nothing if the thread does not exist. */
export async function readLog(base: string, thread: string): Promise<AgentEvent[]> {
  const response = await fetchFromAny(`${base}/api/threads/${thread}/runs`);
  const { runs = [] } = (await response.json()) as { runs?: Array<{ runId: string }> };
  const last = runs.at(-1);
  return last ? followToEnd(base, last.runId) : [];
}

/**
 * Removes the parts of the steps that the thread's last run has discarded. `ai` 6 cannot remove parts: a page shows those of a
 * discarded step until it is reloaded.
 */
export async function withoutDiscarded(
  message: UIMessage | undefined,
  base: string,
  thread: string,
): Promise<UIMessage | undefined> {
  if (!message) return undefined;
  const events = await readLog(base, thread);
  const discarded = new Set<unknown>(
    events.flatMap((event) => (event.type === 'step-end' && event.discarded ? [event.stepId] : [])),
  );
  const isDiscarded = (part: object): boolean => {
    const { providerMetadata, callProviderMetadata } = part as { [key: string]: { intertie?: { stepId?: unknown } } };
    return discarded.has((providerMetadata ?? callProviderMetadata)?.intertie?.stepId);
  };
  const kept = message.parts.filter((part) => !isDiscarded(part));
  const parts = kept.filter(({ type }, index) => type !== 'step-start' || kept[index + 1]?.type !== 'step-start');
  return { ...message, parts };
}
