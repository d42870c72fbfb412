import { applyAnswer, type MessageContent, type RunInput } from '@intertie/core';
import type { Waiting } from '@intertie/core/store';
import { isApproved } from '../shared/ai-sdk-approval.ts';

/** Returns the message that a run continues, with the answers that it does not contain yet. */
export function applyAnswers({ message, answers }: RunInput): MessageContent | undefined {
  return message && answers.reduce(applyAnswer, message);
}

/** Lists the questions and client calls that a message waits for. The runtime and the provider run their own calls. */
export function findPendingParts({ parts }: MessageContent): Waiting[] {
  return parts.flatMap((part): Waiting[] => {
    if (part.type === 'question') return part.answer ? [] : [{ type: 'question', questionId: part.questionId }];
    if (part.type !== 'tool-invocation' || part.state !== 'call') return [];
    const { approval, executor, toolCallId } = part;
    if (approval && !approval.answer) return [{ type: 'question', questionId: approval.questionId }];
    // The executor of a tool runs its approved calls. Denied calls are not run.
    const isAsked = approval === undefined ? executor !== 'runtime' && executor !== 'provider' : executor === 'client';
    return isAsked && (!approval || isApproved(approval)) ? [{ type: 'tool', toolCallId }] : [];
  });
}
