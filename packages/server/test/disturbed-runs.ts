import { startBalancer } from './balancer.ts';
import { chatThroughChaos, endOf, expectStored, followToEnd } from './chaos.ts';
import type { Node } from './nodes.ts';

type Disturbed = {
  nodes: readonly Node[];
  /** The node that is asked what the store has. */
  survivor: Node;
  chats: number;
  /** What happens while all of them are being answered. */
  disturb: () => Promise<void>;
};

/**
 * Chats over one address for all nodes, and a second reader of each, while something breaks. Every one of them ends with the
 * message in the store; returns how many runs ended how.
 */
export async function disturbRuns({ nodes, survivor, chats, disturb }: Disturbed): Promise<{ [end: string]: number }> {
  const balancer = await startBalancer(nodes);
  const threads = Array.from({ length: chats }, () => crypto.randomUUID());
  const talking = new Set<string>();
  const told = threads.map((thread) => chatThroughChaos(balancer.url, survivor.url, 'Write a long answer', thread));
  const read = threads.map(async (thread) => {
    const events = await followToEnd(balancer.url, await liveRun(survivor.url, thread), ({ type }) => {
      if (type === 'text-delta') talking.add(thread);
    });
    return events;
  });
  // Should one of them fail, it is said below, and not as something that nobody has caught.
  for (const one of [...told, ...read]) one.catch(() => undefined);
  while (talking.size < chats) await new Promise((resolve) => setTimeout(resolve, 10));
  await disturb();
  const ends: { [end: string]: number } = {};
  for (const end of await Promise.all(told)) ends[end] = (ends[end] ?? 0) + 1;
  const logs = await Promise.all(read);
  for (const [index, events] of logs.entries()) {
    await expectStored(survivor.url, threads[index]!, events);
    if (ends[endOf(events)] === undefined) throw new Error(`A reader saw ${endOf(events)}, and no chat did.`);
  }
  await balancer.close();
  return ends;
}

async function liveRun(base: string, thread: string): Promise<string> {
  for (;;) {
    const response = await fetch(`${base}/api/threads/${thread}`);
    const { live } = (await response.json()) as { live?: { runId: string } };
    if (live) return live.runId;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
