import type { MessageContent, MessagePart, ToolState } from '../event/message.ts';
import { isRegression } from './tool-part.ts';

/** Texts and run ids of the runs before this one. */
export type EarlierRuns = { texts: Map<string, string>; runs: Set<string> };

type Known = {
  calls: ReadonlyMap<string, { state: ToolState }>;
  questions: ReadonlyMap<string, { answered: boolean }>;
  earlierRuns: EarlierRuns | undefined;
};

/** Finds the first known item that a snapshot would remove or change. A snapshot may only add. */
export function findSnapshotRegression(known: Known, content: MessageContent): { id: string; why: string } | undefined {
  const calls = new Map<string, ToolState>();
  const answers = new Map<string, boolean>();
  const texts = new Map<string, string>();
  for (const part of content.parts) {
    const question = part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? part : undefined;
    if (part.type === 'tool-invocation') calls.set(part.toolCallId, part.state);
    if (question) answers.set(question.questionId, question.answer !== undefined);
    if (part.id !== undefined) texts.set(part.id, getText(part) ?? '');
  }
  for (const [id, { state }] of known.calls) {
    const next = calls.get(id);
    if (next === undefined || isRegression(state, next)) return { id, why: 'It would revert a tool call.' };
  }
  for (const [id, { answered }] of known.questions) {
    if (!answers.has(id) || (answered && !answers.get(id))) return { id, why: 'It would revert a question.' };
  }
  for (const [id, text] of known.earlierRuns?.texts ?? []) {
    if (texts.get(id) !== text) return { id, why: 'It would change the text of an earlier run.' };
  }
  const runs = new Set(content.runs?.map(({ runId }) => runId));
  for (const id of known.earlierRuns?.runs ?? []) if (!runs.has(id)) return { id, why: 'It omits an earlier run.' };
  return undefined;
}

/** Returns the text of a text or reasoning part. */
export function getText(part: MessagePart): string | undefined {
  return part.type === 'text' ? part.text : part.type === 'reasoning' ? part.reasoning : undefined;
}
