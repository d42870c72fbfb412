import type { MessageContent } from '../event/message.ts';
import type { Outcome } from '../event/outcome.ts';
import type { Question } from '../event/part-body.ts';
import type { DecisionRequest } from './registry.ts';

/** What a run that ended so waits for, as the store guards it: the questions and calls are those of its message. */
export function collectDecisions(outcome: Outcome, content: MessageContent): DecisionRequest[] {
  if (outcome.outcome !== 'paused') return [];
  return outcome.waitingFor.flatMap((waiting): DecisionRequest[] => {
    if (waiting.type === 'message') return [];
    for (const part of content.parts) {
      if (waiting.type === 'tool') {
        if (part.type !== 'tool-invocation' || part.toolCallId !== waiting.toolCallId) continue;
        const { toolCallId, toolName, args = null } = part;
        return [{ id: toolCallId, kind: 'client-tool', toolCallId, toolName, input: args }];
      }
      const asked =
        part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? questionOf(part) : undefined;
      if (asked?.questionId === waiting.questionId) return [toRequest(asked)];
    }
    return [];
  });
}

function toRequest(asked: Question & { answer?: unknown }): DecisionRequest {
  const { answer: _, ...question } = asked;
  const { questionId: id, kind, toolCallId, expiresAt } = question;
  const time = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt);
  return {
    id,
    kind,
    question,
    ...(toolCallId !== undefined && { toolCallId }),
    ...(!Number.isNaN(time) && { expiresAt: new Date(time) }),
  };
}

/** The question of a part of its own, without what makes it a part. */
function questionOf(part: Question): Question {
  const { questionId, kind, toolCallId, reason, message, schema, automatic, expiresAt, providerMetadata } = part;
  return {
    questionId,
    kind,
    ...(toolCallId !== undefined && { toolCallId }),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(schema !== undefined && { schema }),
    ...(automatic && { automatic }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(providerMetadata && { providerMetadata }),
  };
}
