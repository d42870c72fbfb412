import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { HttpAgent } from '@ag-ui/client';
import { stream } from '@durable-streams/client';
import { IntertieChatTransport } from '@intertie/ai-sdk';
import { foldEvents, type AgentEvent } from '@intertie/core';
import type { UIMessage } from 'ai';
import { expect, onTestFinished } from 'vitest';

import { idempotent } from '../../agent/test/recovering-agent.mjs';
import { chatMajors, settled, shown, type ChatMajor } from '../../ai-sdk/test/chats.ts';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { toVisibleMessages } from './ag-ui-protocol.ts';
import { startBalancer } from './balancer.ts';
import { fetchWholeBody, storedMessages } from './chaos/chaos-users.ts';
import { chatBody } from './client.ts';
import { spawnNode, type Node } from './nodes.ts';
import { fetchFromAny, followToEnd, readLog, withoutDiscarded } from './thread-log.ts';

const program = fileURLToPath(new URL('recovering-node.mjs', import.meta.url));
const agent = 'recovering';

export type RollingRestart = {
  nodes: number;
  runs: number;
  /** Average time between two chunks of the model. */
  delayMs: number;
  /** Interval in which the nodes look for runs to take over. Default: a third of the lease. */
  sweepMs?: number;
};

/** A client that sends one message and reads its answer to the end. Returns its view of the answer, and the stored one. */
type Reader = { name: string; read(base: string, thread: string): Promise<{ client: unknown; stored: unknown }> };

/** Restarts one node after the other while clients of every kind read runs. Returns a summary. */
export async function restartNodes({ nodes: count, runs, delayMs, sweepMs }: RollingRestart): Promise<string> {
  const file = createFile();
  const args = [await newPostgresUrl(), String(delayMs), file, ...(sweepMs === undefined ? [] : [String(sweepMs)])];
  const start = async (): Promise<Node> => (await spawnNode(program, args))!;
  const nodes = await Promise.all(Array.from({ length: count }, start));
  const balancer = await startBalancer(nodes);
  onTestFinished(async () => {
    await balancer.close();
    await Promise.all(nodes.map((node) => node.kill('SIGKILL')));
  });
  const threads = Array.from({ length: runs }, (_, n) => `t${n}`);
  const gaps: number[] = [];
  const readers = createReaders(gaps);
  const reading = threads.map(async (thread, n) => {
    const reader = readers[n % readers.length]!;
    const { client, stored } = await reader.read(balancer.url, thread);
    expect(client, `${reader.name} in ${thread}`).toEqual(stored);
  });
  const reads = Promise.all(reading);
  reads.catch(() => undefined);
  await sleep(delayMs * 3);
  const closeMs: number[] = [];
  for (const index of nodes.keys()) {
    const startedAt = performance.now();
    await nodes[index]!.kill('SIGTERM');
    closeMs.push(performance.now() - startedAt);
    nodes[index] = await start();
  }
  await reads;
  const logs = await Promise.all(threads.map((thread) => readLog(balancer.url, thread)));
  const ends = logs.map((events) => events.at(-1));
  expect(ends.filter((end) => end?.type !== 'run-end' || end.outcome !== 'complete')).toEqual([]);
  const counts = countExecutions(file);
  const repeated = [...counts].filter(([call, times]) => times > 1 && !idempotent.some((name) => call.endsWith(name)));
  expect(repeated, 'calls that ran twice').toEqual([]);
  return describe(logs, closeMs, gaps);
}

function describe(logs: readonly AgentEvent[][], closeMs: readonly number[], gaps: readonly number[]): string {
  const events = logs.flat();
  const handedOver = events.filter((event) => event.type === 'notice' && event.code === 'recovered').length;
  const discarded = events.filter((event) => event.type === 'step-end' && event.discarded).length;
  const interrupted = events.filter((e) => e.type === 'tool-result' && e.status === 'error').length;
  const sorted = gaps.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  const seconds = closeMs.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(', ');
  return (
    `${closeMs.length} restarts (closed in ${seconds}): ${logs.length} runs complete, ${handedOver} hand-overs, ` +
    `${discarded} steps discarded, ${interrupted} calls interrupted; pause of ${gaps.length} readers: median ${at(0.5)} ms, maximum ${at(1)} ms`
  );
}

const chatReader = ({ name, major, createChat }: ChatMajor): Reader => ({
  name,
  async read(base, thread) {
    const api = `${base}/api/agents/${agent}/chat`;
    const transport = new IntertieChatTransport<6 | 7>({ api, version: major, fetch: fetchFromAny });
    const chat = createChat({ id: thread, transport: transport as never });
    await chat.sendMessage({ text: thread });
    await settled(chat);
    expect(chat.status, `${name} in ${thread}: ${chat.error?.message}`).toBe('ready');
    const stored = (await storedMessages<UIMessage>(base, thread, 'ui')).at(-1);
    const own = major === 6 ? await withoutDiscarded(chat.lastMessage, base, thread) : chat.lastMessage;
    return { client: shown(own), stored: shown(stored) };
  },
});

const agUiReader: Reader = {
  name: 'AG-UI',
  async read(base, thread) {
    const url = `${base}/api/agents/${agent}/ag-ui`;
    const client = new HttpAgent({ url, threadId: thread, fetch: fetchWholeBody });
    client.addMessage({ id: crypto.randomUUID(), role: 'user', content: thread });
    const runId = crypto.randomUUID();
    // After a failure the client requests its run again, and joins it.
    for (let tries = 0; tries < 100; tries += 1) {
      let isFinished = false;
      const subscriber = { onRunFailed: () => undefined, onRunFinishedEvent: () => void (isFinished = true) };
      await client.runAgent({ runId }, subscriber).catch(() => undefined);
      if (isFinished) break;
      await sleep(100);
    }
    const stored = await storedMessages<object>(base, thread, 'ag-ui');
    return { client: toSortedMessages(client.messages), stored: toSortedMessages(stored) };
  },
};

const logReader = (name: string, read: (base: string, runId: string) => Promise<AgentEvent[]>): Reader => ({
  name,
  async read(base, thread) {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: chatBody(thread, thread) };
    const response = await fetchFromAny(`${base}/api/agents/${agent}/chat`, init);
    const runId = response.headers.get('x-intertie-run')!;
    await response.body?.cancel().catch(() => undefined);
    const events = await read(base, runId);
    const message = JSON.parse(JSON.stringify(foldEvents(events))) as { content: { parts: unknown[] } };
    const stored = await storedMessages<typeof message>(base, thread, 'canonical');
    return { client: message.content.parts, stored: stored.at(-1)?.content.parts };
  },
});

/** Follows a run, and measures how long each takeover interrupts its events. */
async function followWithGaps(base: string, runId: string, gaps: number[]): Promise<AgentEvent[]> {
  let last = performance.now();
  return followToEnd(base, runId, (event) => {
    const now = performance.now();
    if (event.type === 'notice' && event.code === 'recovered') gaps.push(now - last);
    last = now;
  });
}

const createReaders = (gaps: number[]): readonly Reader[] => [
  ...chatMajors.map(chatReader),
  agUiReader,
  logReader('canonical events', (base, runId) => followWithGaps(base, runId, gaps)),
  logReader('Durable Streams', async (base, runId) => {
    const events: AgentEvent[] = [];
    let offset: string | undefined;
    while (events.at(-1)?.type !== 'run-end') {
      try {
        const url = `${base}/streams/runs/${runId}`;
        const response = await stream<AgentEvent>({ url, live: 'long-poll', ...(offset !== undefined && { offset }) });
        response.subscribeJson(async (batch) => {
          events.push(...batch.items);
          offset = batch.offset;
        });
        await response.closed;
      } catch {
        await sleep(100);
      }
    }
    return events;
  }),
];

/** Results of parallel tools arrive in any order; stored ones have the order of their calls. */
function toSortedMessages(messages: readonly unknown[]): unknown[] {
  const visible = toVisibleMessages(messages) as Array<{ role: string; toolCallId?: string }>;
  const isResult = ({ role }: { role: string }): boolean => role === 'tool';
  const results = visible.filter(isResult).toSorted((a, b) => (a.toolCallId! < b.toolCallId! ? -1 : 1));
  return [...visible.filter((message) => !isResult(message)), ...results];
}

function createFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-restart-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'tools'), '');
  return join(folder, 'tools');
}

function countExecutions(file: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const call of readFileSync(file, 'utf8').split('\n')) counts.set(call, (counts.get(call) ?? 0) + 1);
  counts.delete('');
  return counts;
}
