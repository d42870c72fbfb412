import type { AgentEvent, AgentSource } from '@intertie/core';

/** Emits one event and then nothing, and ignores stops. */
export const unresponsiveSource: AgentSource = {
  name: 'unresponsive',
  pauses: 'replay',
  run: () =>
    new ReadableStream<AgentEvent>({
      start: (controller) => controller.enqueue({ type: 'text-start', id: 'a' }),
      cancel: () => new Promise<void>(() => {}),
    }),
};
