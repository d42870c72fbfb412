import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fillFolder, newPostgresUrl } from '../../postgres/test/databases.ts';
import {
  agentNames,
  formatPauses,
  killOnce,
  openSurvivor,
  readRun,
  runAndKill,
  runUndisturbed,
} from './source-kills/kill-sources.ts';
import { startPeers } from './source-kills/source-peers.ts';

const kills = { postgres: 200, pglite: 100, atOnce: 5 };

it('continues all runs after 200 SIGKILLs of processes on Postgres', async ({ onTestFinished }) => {
  const target = { target: await newPostgresUrl(), leaseMs: 2_000, peers: await startPeers() };
  const survivor = await openSurvivor(target);
  onTestFinished(() => survivor.close());
  const undisturbed = await runUndisturbed(survivor);
  const pauses: number[] = [];
  for (let n = 0; n < kills.postgres; n += kills.atOnce) {
    const names = Array.from({ length: kills.atOnce }, (_, index) => `p${n + index}`);
    const measured = await Promise.all(names.map((name) => killOnce(target, survivor, undisturbed, name)));
    pauses.push(...measured.flat());
  }
  console.log(`Postgres: ${kills.postgres} kills; ${formatPauses(pauses)}`);
  expect(pauses.length).toBeGreaterThan(kills.postgres);
});

it('continues all runs after 100 SIGKILLs of a process that restarts on a PGlite folder', async ({
  onTestFinished,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-source-kills-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await fillFolder(folder);
  const target = { target: folder, leaseMs: 1_000, peers: await startPeers() };
  // Each process continues the runs of those before it, and is killed too.
  for (let n = 0; n < kills.pglite; n += 1) await runAndKill(target, `p${n}`);
  const survivor = await openSurvivor(target);
  onTestFinished(() => survivor.close());
  const undisturbed = await runUndisturbed(survivor);
  let continued = 0;
  for (let n = 0; n < kills.pglite; n += 1) {
    for (const agent of agentNames) {
      const result = await readRun(survivor, agent, `p${n}-${agent}`);
      // A process can be killed before it has started a run.
      expect([undefined, undisturbed.get(agent)], `p${n}-${agent}`).toContainEqual(result);
      continued += result ? 1 : 0;
    }
  }
  console.log(`PGlite: ${kills.pglite} kills, ${continued} runs`);
  expect(continued).toBeGreaterThan(kills.pglite);
});
