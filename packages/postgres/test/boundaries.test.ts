import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { canonical, check } from '@intertie/conformance';
import { foldEvents, type AgentEvent } from '@intertie/core';
import { createSweeper } from '@intertie/core/internal';
import type { RunKey } from '@intertie/core/store';
import { expect, it, vi } from 'vitest';

import { killingOn } from './kill-writers.ts';
import { readLog } from './processes.ts';

const program = fileURLToPath(new URL('boundary-process.mjs', import.meta.url));

const events: AgentEvent[] = [
  { type: 'run-start', runId: '', threadId: '', messageId: '', at: 1 },
  { type: 'reasoning-start', id: 'p1' },
  { type: 'reasoning-delta', id: 'p1', delta: 'Where was it?' },
  { type: 'reasoning-end', id: 'p1' },
  { type: 'tool-input-start', toolCallId: 'c1', toolName: 'search' },
  { type: 'tool-input-delta', toolCallId: 'c1', delta: '{"q":' },
  { type: 'tool-input-delta', toolCallId: 'c1', delta: '"it"}' },
  { type: 'tool-input-end', toolCallId: 'c1' },
  { type: 'tool-call', toolCallId: 'c1', toolName: 'search', input: { q: 'it' } },
  { type: 'tool-result', toolCallId: 'c1', status: 'ok', output: 'Here.' },
  { type: 'text-start', id: 'p2' },
  { type: 'text-delta', id: 'p2', delta: 'It is here.' },
  { type: 'text-end', id: 'p2' },
  { type: 'run-end', outcome: 'complete' },
];

type WrittenRun = { key: RunKey; threadId: string; messageId: string; count: number };

/** Kills a process that has one run open at each event boundary. */
async function killAtBoundaries(target: string, name: string): Promise<WrittenRun[]> {
  const writer = spawn(process.execPath, [program, target, name, JSON.stringify(events)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise((resolve) => writer.on('close', resolve));
  const runs: WrittenRun[] = [];
  for await (const line of createInterface({ input: writer.stdout })) {
    const [what, key = '', threadId = '', messageId = '', count] = line.split(' ');
    if (what === 'ready') break;
    runs.push({ key: key as RunKey, threadId, messageId, count: Number(count) });
  }
  expect(runs).toHaveLength(events.length + 1);
  writer.kill('SIGKILL');
  await closed;
  return runs;
}

it.each(['Postgres', 'PGlite'] as const)(
  'recovers from a SIGKILL at every event boundary, on %s',
  { timeout: 240_000 },
  async (on) => {
    const { target, reader, open } = await killingOn(on);
    const runs = await killAtBoundaries(target, 'writer');
    const store = await open();
    const sweeper = createSweeper({ store, process: 'sweeper', onError: (error) => expect.unreachable(String(error)) });
    // The server may still execute statements that were sent before the kill, such as a heartbeat; the next sweep succeeds.
    await vi.waitFor(
      async () => {
        await store.registry.retire('writer');
        await sweeper.sweep();
        for (const { threadId } of runs) expect(await store.registry.liveRun(store.scope, { threadId })).toBeNull();
      },
      { timeout: 30_000 },
    );
    for (const { key, threadId, messageId, count } of runs) {
      const log = await readLog(store, key);
      expect(log.slice(1, count)).toEqual(events.slice(1, count));
      expect(check(canonical, log).violations).toEqual([]);
      const state = count === events.length ? 'complete' : 'error';
      expect(log.at(-1)).toMatchObject({ type: 'run-end', outcome: state });
      expect(await store.registry.getRun(store.scope, key)).toMatchObject({ state });
      const message = await store.getMessage({ threadId, messageId });
      expect(message).toMatchObject({ status: state, content: foldEvents(log)!.content });
    }
    if (!reader) await store.close();
  },
);
