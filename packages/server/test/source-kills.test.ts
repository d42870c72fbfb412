import { expect, it } from 'vitest';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import {
  agentNames,
  formatFigures,
  killOnce,
  openSurvivor,
  runUndisturbed,
  startPeers,
} from './source-kills/kill-sources.ts';

/** 25 runs of every source: each process starts several at different times, and is killed at a random one. */
const killed = { processes: 5, runs: 5 };

it(
  'continues runs of every resumable source after SIGKILL, with the events and the message of undisturbed runs',
  { timeout: 120_000 },
  async ({ annotate, onTestFinished }) => {
    const target = { target: await newPostgresUrl(), leaseMs: 2_000, peers: await startPeers() };
    const survivor = await openSurvivor(target);
    onTestFinished(() => survivor.close());
    const undisturbed = await runUndisturbed(survivor);
    const all = await Promise.all(
      Array.from({ length: killed.processes }, (_, n) =>
        killOnce(target, survivor, undisturbed, { name: `p${n}`, runs: killed.runs }),
      ),
    );
    await annotate(formatFigures(all));
    const continued = all.flatMap(({ pauses }) => pauses.map(({ agent }) => agent));
    expect([...new Set(continued)].toSorted()).toEqual(agentNames.toSorted());
  },
);
