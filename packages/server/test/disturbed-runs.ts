import { startBalancer } from './balancer.ts';
import { chatThroughChaos, describeEnd, expectStored } from './chaos.ts';
import type { Node } from './nodes.ts';
import { followToEnd } from './thread-log.ts';

type Options = {
  nodes: readonly Node[];
  /** Node that is asked for stored messages. */
  survivor: Node;
  chats: number;
  /** Agent of the chats. Default: `helper`, whose runs can continue in another process. */
  agent?: string;
  /** Injects the fault while all chats are streaming. */
  disturb: () => Promise<void>;
};

/**
 * Runs chats over a load balancer, with a second reader of each run, while a fault is injected. All of them must end with the
 * stored message. Returns the number of runs by outcome.
 */
export async function disturbRuns(options: Options): Promise<{ [end: string]: number }> {
  const { nodes, survivor, chats, agent = 'helper', disturb } = options;
  const balancer = await startBalancer(nodes);
  const threads = Array.from({ length: chats }, () => crypto.randomUUID());
  const streaming = new Set<string>();
  const chatting = threads.map((thread) =>
    chatThroughChaos(balancer.url, survivor.url, 'Write a long answer', { thread, agent }),
  );
  const read = threads.map(async (thread) => {
    const events = await followToEnd(balancer.url, await liveRun(survivor.url, thread), ({ type }) => {
      if (type === 'text-delta') streaming.add(thread);
    });
    return events;
  });
  // Failures are reported below, not as unhandled rejections.
  for (const promise of [...chatting, ...read]) promise.catch(() => undefined);
  while (streaming.size < chats) await new Promise((resolve) => setTimeout(resolve, 10));
  await disturb();
  const ends: { [end: string]: number } = {};
  for (const end of await Promise.all(chatting)) ends[end] = (ends[end] ?? 0) + 1;
  const logs = await Promise.all(read);
  for (const [index, events] of logs.entries()) {
    await expectStored(survivor.url, threads[index]!, events);
    const end = describeEnd(events);
    if (ends[end] === undefined) throw new Error(`A reader saw ${end}, and no chat did.`);
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
