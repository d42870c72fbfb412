import { createInMemoryStore } from '@intertie/core';
import { expect, it, vi } from 'vitest';
import { deafSource } from '../test/deaf-source.ts';
import { Agent } from './agent.ts';
import { createRunHost } from './run-host.ts';

it('is closed as soon as anybody wants, whatever was said before and whatever the source hears', async () => {
  const store = createInMemoryStore();
  const host = createRunHost(store, { tickMs: 2 });
  const agent = new Agent({ source: deafSource, store, host });
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  const patient = host.close({ drainMs: 600_000 });
  // It still waits for the run: nobody is in a hurry.
  await vi.waitFor(async () => expect(await run.record()).toMatchObject({ state: 'running' }));
  await host.close({ drainMs: 10 });
  await patient;
  expect(await run.record()).toMatchObject({
    state: 'aborted',
    outcome: { outcome: 'aborted', by: 'system', reason: 'shutdown' },
  });
});
