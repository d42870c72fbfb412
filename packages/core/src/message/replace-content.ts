import type { AskedQuestion, MessagePart, RunEntry } from '../event/message.ts';
import { isRegression } from '../codec/tool-part.ts';

/**
 * The parts that a snapshot states, on top of those that are known. The snapshot is taken as it is, but nothing is taken
 * back: a call keeps the state it has reached, a question its answer, and neither disappears.
 */
export function restateParts(known: readonly MessagePart[], stated: readonly MessagePart[]): MessagePart[] {
  const open = new Map<string, MessagePart>();
  for (const part of known) if (keyOf(part) !== undefined) open.set(keyOf(part)!, part);
  const parts = stated.map((part) => {
    const key = keyOf(part);
    const before = key === undefined ? undefined : open.get(key);
    if (!before) return part;
    open.delete(key!);
    return further(before, part);
  });
  return [...parts, ...open.values()];
}

/** Entries that a snapshot leaves out stay, before those that it states. */
export function restateRuns(known: readonly RunEntry[] = [], stated: readonly RunEntry[] = []): RunEntry[] {
  const ids = new Set(stated.map(({ runId }) => runId));
  return [...known.filter(({ runId }) => !ids.has(runId)), ...stated];
}

function keyOf(part: MessagePart): string | undefined {
  if (part.type === 'tool-invocation') return `call ${part.toolCallId}`;
  return part.type === 'question' ? `question ${part.questionId}` : undefined;
}

function further(before: MessagePart, part: MessagePart): MessagePart {
  if (before.type === 'question' && part.type === 'question') return withAnswer(part, before);
  if (before.type !== 'tool-invocation' || part.type !== 'tool-invocation') return part;
  if (isRegression(before.state, part.state)) return before;
  if (!before.approval) return part;
  const { approval = before.approval } = part;
  return { ...part, approval: withAnswer(approval, before.approval) };
}

function withAnswer<Asked extends AskedQuestion>(question: Asked, before: AskedQuestion): Asked {
  return before.answer && !question.answer && before.questionId === question.questionId
    ? { ...question, answer: before.answer }
    : question;
}
