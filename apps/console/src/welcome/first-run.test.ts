import { canonical, check } from '@intertie/conformance';
import { formatTape, type AgentEvent } from '@intertie/core';
import { expect, it } from 'vitest';
import { recordFirstRun } from './record-first-run.ts';

it('matches the stored recording of the script', async () => {
  // Record again with `npx vitest run apps/console/src/welcome -u`.
  await expect(formatTape(await recordFirstRun())).toMatchFileSnapshot('first-run.tape.jsonl');
});

it('records a run without rule violations', async () => {
  const events = (await recordFirstRun()).items.map(({ item }) => item as unknown as AgentEvent);
  expect(check(canonical, events).violations).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
});
