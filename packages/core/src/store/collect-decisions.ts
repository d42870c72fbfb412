import { defined, omit } from '../json/fields.ts';
import type { MessageContent } from '../event/message.ts';
import type { Outcome } from '../event/outcome.ts';
import type { Question } from '../event/part-body.ts';
import type { DecisionRequest } from './registry.ts';

/** Collects the decisions that a paused run waits for, from the questions and calls of its message. */
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
      const question =
        part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? toQuestion(part) : undefined;
      if (question?.questionId === waiting.questionId) return [toRequest(question)];
    }
    return [];
  });
}

function toRequest(asked: Question & { answer?: unknown }): DecisionRequest {
  const question = omit(asked, 'answer');
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

/** Picks the fields of the question from a question part. */
function toQuestion(part: Question): Question {
  const { questionId, kind, toolCallId, reason, message, schema, automatic, expiresAt, providerMetadata } = part;
  return {
    questionId,
    kind,
    ...defined({ toolCallId, reason, message, schema, automatic, expiresAt, providerMetadata }),
  };
}
