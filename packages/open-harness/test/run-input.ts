import type { CanonicalMessage, RunInput } from '@intertie/core';
import { runInput as emptyRun } from '../../core/test/run-input.ts';

/** Creates a run of a thread with one user message. */
export function runInput(text: string = 'hello', given: Partial<RunInput> = {}): RunInput {
  const message: CanonicalMessage = {
    id: 'user-1',
    threadId: 'thread',
    role: 'user',
    type: 'text',
    content: { format: 2, parts: [{ type: 'text', text }] },
    createdAt: new Date(0),
  };
  return emptyRun({ history: [message], ...given });
}
