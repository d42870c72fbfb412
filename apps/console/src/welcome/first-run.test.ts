import { canonical, check } from '@intertie/conformance';
import { formatTape, type AgentEvent } from '@intertie/core';
import { expect, it } from 'vitest';
import { recordFirstRun } from './record-first-run.ts';

it('the recording of the first screen is the story as it runs now', async () => {
  // `npx vitest run apps/console/src/welcome -u` records it anew.
  await expect(formatTape(await recordFirstRun())).toMatchFileSnapshot('first-run.tape.jsonl');
});

it('keeps every rule of a run', async () => {
  const events = (await recordFirstRun()).items.map(({ item }) => item as unknown as AgentEvent);
  expect(check(canonical, events).violations).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
});
