import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentEvent } from '@intertie/core';
import { expect, it } from 'vitest';
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
  type KillTarget,
} from './source-kills/kill-sources.ts';

const { SOAK_KILLS } = process.env;
const postgresKills = Number(SOAK_KILLS ?? 200);
const defaultLeaseKills = Number(SOAK_KILLS ?? 20);
const pgliteKills = Number(SOAK_KILLS ?? 100);

async function killOnPostgres(kills: number, leaseMs: number, onClose: (close: () => Promise<void>) => void) {
  const target: KillTarget = { target: await newPostgresUrl(), leaseMs, peers: await startPeers() };
  const survivor = await openSurvivor(target);
  onClose(() => survivor.close());
  const undisturbed = await runUndisturbed(survivor);
  const all: KillFigures[] = [];
  while (all.length < kills) {
    const names = Array.from({ length: Math.min(5, kills - all.length) }, (_, index) => `p${all.length + index}`);
    const killed = names.map((name) => killOnce(target, survivor, undisturbed, { name, runs: 1 }));
    all.push(...(await Promise.all(killed)));
  }
  console.log(`Postgres, lease of ${leaseMs} ms: ${formatFigures(all)}`);
  expect(all.flatMap(({ pauses }) => pauses).length).toBeGreaterThan(kills);
}

it('continues all runs after 200 SIGKILLs of processes on Postgres', async ({ onTestFinished }) => {
  await killOnPostgres(postgresKills, 2_000, onTestFinished);
});

it('continues all runs after SIGKILLs of processes with the default lease', async ({ onTestFinished }) => {
  await killOnPostgres(defaultLeaseKills, 15_000, onTestFinished);
});

it('continues all runs after 100 SIGKILLs of a process that restarts on a PGlite folder', async ({
  onTestFinished,
}) => {
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
