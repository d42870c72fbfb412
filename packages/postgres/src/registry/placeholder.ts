import type { CanonicalMessage } from '@intertie/core';
import type { StartRequest } from '@intertie/core/store';

/** The message of a new run. There from the start: a reload shows it, and whatever is queued behind it has a parent. */
export function placeholderOf(request: StartRequest, at: number, parentId: string | undefined): CanonicalMessage {
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
