import type { EventOf, MessageContent, ToolState } from '@intertie/core';

import type { CanonicalRule } from '../rules/canonical-rules.ts';

/** What the checker has seen of a call, and of a question. */
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
  /** What the baseline says: the words and the runs before this one. */
  earlier: MessageContent | undefined;
};
type Breach = { rule: CanonicalRule; message: string; path?: string };

export const settled = (state: ToolState): boolean => state !== 'partial-call' && state !== 'call';

/** What a snapshot takes back of what was said: it may add, and it may not forget. */
export function snapshotBreaches(before: Before, content: MessageContent): Breach[] {
  return [
    ...callBreaches(before.calls, content),
    ...questionBreaches(before.questions, content),
    ...(before.earlier ? earlierBreaches(before.earlier, content) : []),
  ];
}

function* callBreaches(calls: Before['calls'], { parts }: MessageContent): Generator<Breach> {
  for (const [id, before] of calls) {
    if (before.discarded) continue;
    const index = parts.findIndex((part) => part.type === 'tool-invocation' && part.toolCallId === id);
    const part = parts[index];
    if (part?.type !== 'tool-invocation') {
      yield { rule: 'C4-back', message: `The snapshot leaves out the call ${id}.`, path: 'content.parts' };
    } else if (
      settled(before.state) ? part.state !== before.state : before.state === 'call' && part.state === 'partial-call'
    ) {
      const path = `content.parts[${index}].state`;
      yield { rule: 'C4-back', message: `The call ${id} was "${before.state}".`, path };
    }
  }
}

function* questionBreaches(questions: Before['questions'], { parts }: MessageContent): Generator<Breach> {
  const asked = parts.flatMap((part) =>
    part.type === 'question' ? [part] : part.type === 'tool-invocation' && part.approval ? [part.approval] : [],
  );
  for (const [id, { state }] of questions) {
    if (state === 'discarded') continue;
    const restated = asked.find(({ questionId }) => questionId === id);
    if (!restated) {
      yield { rule: 'C4-back', message: `The snapshot leaves out the question ${id}.`, path: 'content.parts' };
    } else if (state === 'answered' && !restated.answer) {
      yield { rule: 'C4-back', message: `The question ${id} was answered.` };
    }
  }
}

function* earlierBreaches(earlier: MessageContent, content: MessageContent): Generator<Breach> {
  for (const before of earlier.parts) {
    if ((before.type !== 'text' && before.type !== 'reasoning') || before.id === undefined) continue;
    const after = content.parts.find(({ id }) => id === before.id);
    const same =
      before.type === 'text'
        ? after?.type === 'text' && after.text === before.text
        : after?.type === 'reasoning' && after.reasoning === before.reasoning;
    if (same) continue;
    const message = `The ${before.type} ${before.id} was said by an earlier run.`;
    yield { rule: 'C7-edit', message, path: 'content.parts' };
  }
  for (const { runId } of earlier.runs ?? []) {
    if (content.runs?.some((run) => run.runId === runId)) continue;
    yield { rule: 'C7-edit', message: `The snapshot leaves out the run ${runId}.`, path: 'content.runs' };
  }
}
