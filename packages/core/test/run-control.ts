import type { RunControl } from '../src/event/agent-source.ts';

/** The control of a run for tests: nobody stops it, nothing is waited for, nobody answers. */
export function runControl(given: Partial<RunControl> = {}): RunControl {
  return {
    signal: new AbortController().signal,
    barrier: async () => undefined,
    liveAnswers: (async function* () {})(),
    ...given,
  };
}
