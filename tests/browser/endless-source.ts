import { seal, sourceStream, type AgentEvent, type AgentSource } from '@intertie/core';

/** Source whose answer streams until it is stopped. */
export const endlessSource: AgentSource = {
  name: 'endless',
  pauses: 'replay',
  run: (run, { signal }) => {
    async function* events(): AsyncGenerator<AgentEvent> {
      const id = `${run.runId}:answer`;
      yield { type: 'text-start', id };
      yield { type: 'text-delta', id, delta: 'This answer has no end.' };
      await new Promise<void>((resolve) => {
        if (signal?.aborted) resolve();
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    return sourceStream(
      events(),
      seal(run, () => undefined),
      { ...(signal && { signal }) },
    );
  },
};
