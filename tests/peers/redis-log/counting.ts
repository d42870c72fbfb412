import type { AgentEvent, AgentSource } from '@intertie/core';

/** Number of deltas. */
export const count = 60;
export const counted: string = Array.from({ length: count }, (_, n) => `${n} `).join('');

/** Counts, one delta every few milliseconds, and calls `halfWay` in the middle. */
export function counting(halfWay: () => void): AgentSource {
  return {
    name: 'counter',
    pauses: 'replay',
    run: ({ runId, threadId, messageId }) =>
      new ReadableStream<AgentEvent>({
        async start(controller) {
          controller.enqueue({ type: 'run-start', runId, threadId, messageId });
          controller.enqueue({ type: 'text-start', id: 'p' });
          for (let n = 0; n < count; n++) {
            controller.enqueue({ type: 'text-delta', id: 'p', delta: `${n} ` });
            if (n === count / 2) halfWay();
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
          controller.enqueue({ type: 'text-end', id: 'p' });
          controller.enqueue({ type: 'run-end', outcome: 'complete' });
          controller.close();
        },
      }),
  };
}
