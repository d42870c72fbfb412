import type { RunInput } from '@intertie/core';

/** Input for codecs that read a finished run. Their output depends only on the ids. */
export const emptyRun: RunInput = {
  runId: 'tape',
  threadId: 'tape',
  messageId: 'tape',
  startedAt: 0,
  history: [],
  answers: [],
  tools: [],
  context: [],
};
