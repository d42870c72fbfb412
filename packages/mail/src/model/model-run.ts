import type { LanguageModelV3Prompt } from '@ai-sdk/provider';
import type { CanonicalMessage, RunInput } from '@intertie/core';

/**
 * The run of one call to a model. The SDK keeps the history; only the ids in it matter, since those of the vendors repeat
 * from turn to turn and the SDK pairs calls and results by them.
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
