import type { AgentEvent, AgentSource } from '@intertie/core';

/** Says a word, and then nothing, whatever it is told. */
export const deafSource: AgentSource = {
  name: 'deaf',
  pauses: 'replay',
  run: () =>
    new ReadableStream<AgentEvent>({
      start: (controller) => controller.enqueue({ type: 'text-start', id: 'a' }),
      cancel: () => new Promise<void>(() => {}),
    }),
};
