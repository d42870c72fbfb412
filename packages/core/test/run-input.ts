import type { RunInput } from '../src/event/run-input.ts';

/** A run for tests: nothing before it, nothing asked of it. */
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
