import type { EventOf, MessageContent } from '@intertie/core';
import type { ToolState } from '@intertie/core/internal';

import type { CanonicalRule } from '../rules/canonical-rules.ts';

/** State of a call and of a question at the current event. */
export type CallRecord = {
  state: ToolState;
  invalid: boolean;
  discarded?: true;
  opening?: EventOf<'tool-input-start' | 'tool-call'>;
};
export type QuestionRecord = { state: 'open' | 'answered' | 'discarded'; toolCallId: string | undefined };

type Before = {
  calls: ReadonlyMap<string, CallRecord>;
  questions: ReadonlyMap<string, QuestionRecord>;
  /** Content of the first snapshot: the output of earlier runs. */
  earlier: MessageContent | undefined;
};
type SnapshotViolation = { rule: CanonicalRule; message: string; path?: string };

export const isSettled = (state: ToolState): boolean => state !== 'partial-call' && state !== 'call';

/** Finds calls, answers and earlier output that a snapshot removes or reverts. */
export function findSnapshotViolations(before: Before, content: MessageContent): SnapshotViolation[] {
  return [
    ...findCallViolations(before.calls, content),
    ...findQuestionViolations(before.questions, content),
    ...(before.earlier ? findEdits(before.earlier, content) : []),
  ];
}

function* findCallViolations(calls: Before['calls'], { parts }: MessageContent): Generator<SnapshotViolation> {
  for (const [id, before] of calls) {
    if (before.discarded) continue;
    const index = parts.findIndex((part) => part.type === 'tool-invocation' && part.toolCallId === id);
    const part = parts[index];
    if (part?.type !== 'tool-invocation') {
      yield { rule: 'C4-back', message: `The snapshot omits the call ${id}.`, path: 'content.parts' };
    } else if (
      isSettled(before.state) ? part.state !== before.state : before.state === 'call' && part.state === 'partial-call'
    ) {
      const path = `content.parts[${index}].state`;
      yield { rule: 'C4-back', message: `The snapshot reverts the call ${id} from "${before.state}".`, path };
    }
  }
}

function* findQuestionViolations(
  questions: Before['questions'],
  { parts }: MessageContent,
): Generator<SnapshotViolation> {
  const asked = parts.flatMap((part) =>
    part.type === 'question' ? [part] : part.type === 'tool-invocation' && part.approval ? [part.approval] : [],
  );
  for (const [id, { state }] of questions) {
    if (state === 'discarded') continue;
    const found = asked.find(({ questionId }) => questionId === id);
    if (!found) {
      yield { rule: 'C4-back', message: `The snapshot omits the question ${id}.`, path: 'content.parts' };
    } else if (state === 'answered' && !found.answer) {
      yield { rule: 'C4-back', message: `The snapshot omits the answer to the question ${id}.` };
    }
  }
}

function* findEdits(earlier: MessageContent, content: MessageContent): Generator<SnapshotViolation> {
  for (const before of earlier.parts) {
    if ((before.type !== 'text' && before.type !== 'reasoning') || before.id === undefined) continue;
    const after = content.parts.find(({ id }) => id === before.id);
    const same =
      before.type === 'text'
        ? after?.type === 'text' && after.text === before.text
        : after?.type === 'reasoning' && after.reasoning === before.reasoning;
    if (same) continue;
    const message = `The snapshot edits the ${before.type} ${before.id} of an earlier run.`;
    yield { rule: 'C7-edit', message, path: 'content.parts' };
  }
  for (const { runId } of earlier.runs ?? []) {
    if (content.runs?.some((run) => run.runId === runId)) continue;
    yield { rule: 'C7-edit', message: `The snapshot omits the run ${runId}.`, path: 'content.runs' };
  }
}
