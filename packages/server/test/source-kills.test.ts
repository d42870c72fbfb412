import { expect, it } from 'vitest';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { formatPauses, killOnce, openSurvivor, runUndisturbed } from './source-kills/kill-sources.ts';
import { startPeers } from './source-kills/source-peers.ts';

it(
  'continues runs of every resumable source after SIGKILL, with the events and the message of undisturbed runs',
  { timeout: 60_000 },
  async ({ annotate, onTestFinished }) => {
    const target = { target: await newPostgresUrl(), leaseMs: 2_000, peers: await startPeers() };
    const survivor = await openSurvivor(target);
    onTestFinished(() => survivor.close());
    const undisturbed = await runUndisturbed(survivor);
    const names = Array.from({ length: 5 }, (_, n) => `p${n}`);
    const pauses = (await Promise.all(names.map((name) => killOnce(target, survivor, undisturbed, name)))).flat();
    expect(pauses.length).toBeGreaterThan(0);
    await annotate(formatPauses(pauses));
  },
);
