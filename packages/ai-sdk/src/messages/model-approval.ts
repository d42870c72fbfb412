import type { AskedQuestion } from '@intertie/core/store';
import { isApproved, getApprovalProof } from '../shared/ai-sdk-approval.ts';
import type { ModelPart } from './group-model-messages.ts';
import { defined } from '../shared/read-fields.ts';

/** What a model message says of an approval: that it was asked for, and what the answer was, if there is one. */
export function modelApproval(
  approval: AskedQuestion,
  toolCallId: string,
  isProviders: boolean,
): { request: ModelPart; response: ModelPart | undefined } {
  const { questionId: approvalId, answer } = approval;
  const approved = isApproved(approval);
  return {
    request: { type: 'tool-approval-request', approvalId, toolCallId, ...getApprovalProof(approval) },
    response:
      approved === undefined
        ? undefined
        : {
            type: 'tool-approval-response',
            approvalId,
            approved,
            ...defined({ reason: answer?.reason }),
            ...(isProviders && { providerExecuted: true }),
          },
  };
}
