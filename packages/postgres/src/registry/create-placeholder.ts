import type { CanonicalMessage } from '@intertie/core';
import type { StartRequest } from '@intertie/core/store';

/** Message of a new run, saved at its start so that a reload shows it and queued runs have a parent. */
export function createPlaceholder(request: StartRequest, at: number, parentId: string | undefined): CanonicalMessage {
  const resourceId = request.resourceId ?? request.message?.resourceId;
  return {
    id: request.messageId,
    threadId: request.threadId,
    role: 'assistant',
    type: 'text',
    content: { format: 2, parts: [] },
    createdAt: new Date(at),
    ...(resourceId !== undefined && { resourceId }),
    ...(parentId !== undefined && { parentId }),
    runId: request.runId,
    status: 'streaming',
  };
}
