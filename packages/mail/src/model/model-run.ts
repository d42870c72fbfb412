import type { LanguageModelV3Prompt } from '@ai-sdk/provider';
import type { CanonicalMessage, RunInput } from '@intertie/core';

/**
 * Creates the run of one model call. The SDK stores the history; the run needs only its tool call ids, since vendors repeat
 * ids between requests and the SDK pairs calls and results by id.
 */
export function createModelRun(runId: string, prompt: LanguageModelV3Prompt, startedAt: number): RunInput {
  const parts = prompt.flatMap((message) =>
    message.role !== 'assistant'
      ? []
      : message.content.flatMap((part) =>
          part.type === 'tool-call'
            ? [
                {
                  type: 'tool-invocation' as const,
                  toolCallId: part.toolCallId,
                  toolName: part.toolName,
                  state: 'call' as const,
                },
              ]
            : [],
        ),
  );
  const message: CanonicalMessage = {
    id: `${runId}:history`,
    threadId: runId,
    role: 'assistant',
    type: 'text',
    content: { format: 2, parts },
    createdAt: new Date(startedAt),
  };
  return {
    runId,
    threadId: runId,
    messageId: `${runId}:message`,
    startedAt,
    history: parts.length > 0 ? [message] : [],
    answers: [],
    tools: [],
    context: [],
  };
}
