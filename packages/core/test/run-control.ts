import type { RunControl } from '../src/event/agent-source.ts';

/** Control of a run for tests: no stop, no waiting barrier, no answers. */
export function runControl(given: Partial<RunControl> = {}): RunControl {
  return {
    signal: new AbortController().signal,
    barrier: async () => undefined,
    liveAnswers: (async function* () {})(),
    ...given,
  };
}
