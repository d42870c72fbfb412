import type { RunInput } from '../src/event/run-input.ts';

/** Input of a run for tests, without history or answers. */
export function runInput(given: Partial<RunInput> = {}): RunInput {
  return {
    runId: 'run',
    threadId: 'thread',
    messageId: 'message',
    startedAt: 0,
    history: [],
    answers: [],
    tools: [],
    context: [],
    ...given,
  };
}
