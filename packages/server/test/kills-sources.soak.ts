import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentEvent } from '@intertie/core';
import { expect, it, onTestFinished } from 'vitest';
import { fillFolder, newPostgresUrl } from '../../postgres/test/databases.ts';
import {
  formatFigures,
  killOnce,
  listThreads,
  openSurvivor,
  readRun,
  runAndKill,
  runUndisturbed,
  startPeers,
  type KillFigures,
} from './source-kills/kill-sources.ts';

const { SOAK_KILLS } = process.env;
const pgliteKills = Number(SOAK_KILLS ?? 100);

it.each([
  { leaseMs: 2_000, kills: Number(SOAK_KILLS ?? 200) },
  { leaseMs: 15_000, kills: Number(SOAK_KILLS ?? 20) },
])(
  'continues all runs after SIGKILLs of processes on Postgres, with a lease of $leaseMs ms',
  async ({ leaseMs, kills }) => {
    const target = { target: await newPostgresUrl(), leaseMs, peers: await startPeers() };
    const survivor = await openSurvivor(target);
    onTestFinished(() => survivor.close());
    const undisturbed = await runUndisturbed(survivor);
    const all: KillFigures[] = [];
    while (all.length < kills) {
      const names = Array.from({ length: Math.min(5, kills - all.length) }, (_, index) => `p${all.length + index}`);
      const killed = names.map((name) => killOnce(target, survivor, undisturbed, { name, runs: 1 }));
      all.push(...(await Promise.all(killed)));
    }
    console.log(`Postgres, lease of ${leaseMs} ms: ${formatFigures(all)}`);
    expect(all.flatMap(({ pauses }) => pauses).length).toBeGreaterThan(kills);
  },
);

it('continues all runs after 100 SIGKILLs of a process that restarts on a PGlite folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-source-kills-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await fillFolder(folder);
  const target = { target: folder, leaseMs: 1_000, peers: await startPeers() };
  const names = Array.from({ length: pgliteKills }, (_, n) => `p${n}`);
  // Each process continues the runs of those before it, and is killed too.
  for (const name of names) await runAndKill(target, { name, runs: 1 });
  const survivor = await openSurvivor(target);
  onTestFinished(() => survivor.close());
  const undisturbed = await runUndisturbed(survivor);
  let takeovers = 0;
  const onEvents = (events: readonly AgentEvent[]): void => {
    takeovers += events.filter((event) => event.type === 'notice' && event.code === 'recovered').length;
  };
  let runs = 0;
  for (const { agent, threadId } of names.flatMap((name) => listThreads(name, 1))) {
    const result = await readRun(survivor, agent, threadId, onEvents);
    // A process can be killed before it has started a run.
    expect([undefined, undisturbed.get(agent)], threadId).toContainEqual(result);
    runs += result ? 1 : 0;
  }
  console.log(`PGlite: ${pgliteKills} kills: ${runs} runs complete, ${takeovers} takeovers`);
  expect(takeovers).toBeGreaterThan(pgliteKills);
});
