import type { AskedQuestion, MessagePart, RunEntry } from '../event/message.ts';
import { isRegression } from '../codec/tool-part.ts';

/**
 * Replaces the parts of a message with those of a snapshot, without undoing progress: a call keeps the state it has reached, a
 * question keeps its answer, and neither is removed.
 */
export function replaceParts(current: readonly MessagePart[], incoming: readonly MessagePart[]): MessagePart[] {
  const remaining = new Map<string, MessagePart>();
  for (const part of current) if (getKey(part) !== undefined) remaining.set(getKey(part)!, part);
  const parts = incoming.map((part) => {
    const key = getKey(part);
    const before = key === undefined ? undefined : remaining.get(key);
    if (!before) return part;
    remaining.delete(key!);
    return keepProgress(before, part);
  });
  return [...parts, ...remaining.values()];
}

/** Prepends the run entries that the snapshot lacks. */
export function mergeRunEntries(current: readonly RunEntry[] = [], incoming: readonly RunEntry[] = []): RunEntry[] {
  const ids = new Set(incoming.map(({ runId }) => runId));
  return [...current.filter(({ runId }) => !ids.has(runId)), ...incoming];
}

function getKey(part: MessagePart): string | undefined {
  if (part.type === 'tool-invocation') return `call ${part.toolCallId}`;
  return part.type === 'question' ? `question ${part.questionId}` : undefined;
}

function keepProgress(before: MessagePart, part: MessagePart): MessagePart {
  if (before.type === 'question' && part.type === 'question') return keepAnswer(part, before);
  if (before.type !== 'tool-invocation' || part.type !== 'tool-invocation') return part;
  if (isRegression(before.state, part.state)) return before;
  if (!before.approval) return part;
  const { approval = before.approval } = part;
  return { ...part, approval: keepAnswer(approval, before.approval) };
}

function keepAnswer<Asked extends AskedQuestion>(question: Asked, before: AskedQuestion): Asked {
  return before.answer && !question.answer && before.questionId === question.questionId
    ? { ...question, answer: before.answer }
    : question;
}
