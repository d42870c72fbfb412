import { expect, it, vi } from 'vitest';
import { Agent } from '../src/index.ts';
import { resumableSource } from './resumable-source.mjs';
import { openTestStore, storeKinds } from './test-stores.ts';
import { unresponsiveSource } from './unresponsive-source.ts';

const waitOptions = { timeout: 30_000, interval: 50 };
/** A dead process renews no lease. Its sweeps would renew it. */
const deadOptions = { process: 'dead', heartbeatMs: 600_000, sweepMs: 600_000 };

it.each(storeKinds)('ends the run of a dead process when the next process opens its agent: %s', async (on) => {
  const { process } = await openTestStore(on);
  const dead = process(deadOptions);
  const run = await new Agent({ source: unresponsiveSource, ...dead }).stream({ threadId: 't', message: 'Go' });
  await dead.store.registry.retire('dead');
  await new Agent({ source: unresponsiveSource, ...process({ process: 'next' }) }).open();
  const ended = { state: 'error', outcome: { error: { code: 'lost' } } };
  await vi.waitFor(async () => expect(await run.record()).toMatchObject(ended), waitOptions);
});

it.each(storeKinds)('continues the run of a dead process when the next process opens its agent: %s', async (on) => {
  const { process } = await openTestStore(on);
  const dead = process(deadOptions);
  const slow = resumableSource({ delayMs: 60_000 });
  const run = await new Agent({ source: slow, ...dead }).stream({ threadId: 't', message: '3' });
  await dead.store.registry.retire('dead');
  await new Agent({ source: resumableSource(), ...process({ process: 'next' }) }).open();
  await vi.waitFor(async () => expect(await run.record()).toMatchObject({ state: 'complete' }), waitOptions);
});
