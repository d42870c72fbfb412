import { applyAnswer, type MessageContent, type RunInput } from '@intertie/core';
import type { Waiting } from '@intertie/core/store';
import { isApproved } from '../shared/ai-sdk-approval.ts';

/** The message that a continuation goes on with, with the answers that it does not hold yet. */
export function applyAnswers({ message, answers }: RunInput): MessageContent | undefined {
  return message && answers.reduce(applyAnswer, message);
}

/** What a message still waits for. Calls of the runtime and of the provider are never anybody else's to answer. */
export function findPendingParts({ parts }: MessageContent): Waiting[] {
  return parts.flatMap((part): Waiting[] => {
    if (part.type === 'question') return part.answer ? [] : [{ type: 'question', questionId: part.questionId }];
    if (part.type !== 'tool-invocation' || part.state !== 'call') return [];
    const { approval, executor, toolCallId } = part;
    if (approval && !approval.answer) return [{ type: 'question', questionId: approval.questionId }];
    // What was approved is run by whoever runs the tool; what was denied, by nobody.
    const isAsked = approval === undefined ? executor !== 'runtime' && executor !== 'provider' : executor === 'client';
    return isAsked && (!approval || isApproved(approval)) ? [{ type: 'tool', toolCallId }] : [];
  });
}
