import { applyAnswer, type CanonicalMessage, type RunInput } from '@intertie/core';

/** Returns the messages that a chat sends for a run: the history, followed for a continuation by the message with its answers. */
export function toRequestMessages(run: RunInput): CanonicalMessage[] {
  const { history, message, messageId: id, threadId, answers, startedAt, resumes } = run;
  if (!message) return history;
  const content = answers.reduce(applyAnswer, message);
  const createdAt = new Date(startedAt);
  const runId = resumes === undefined ? {} : { runId: resumes };
  return [
    ...history,
    { id, threadId, role: 'assistant', type: 'text', content, createdAt, status: 'paused', ...runId },
  ];
}
