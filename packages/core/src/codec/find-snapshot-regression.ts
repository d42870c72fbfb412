import type { MessageContent, MessagePart, ToolState } from '../event/message.ts';
import { takesBack } from './tool-part.ts';

/** What earlier runs have said and how they ended. */
export type Earlier = { texts: Map<string, string>; runs: Set<string> };

type Known = {
  calls: ReadonlyMap<string, { state: ToolState }>;
  questions: ReadonlyMap<string, { answered: boolean }>;
  earlier: Earlier | undefined;
};

/** The first thing that is known and that a snapshot would take back: it may add, and it may not forget. */
export function takenBack(known: Known, content: MessageContent): { id: string; why: string } | undefined {
  const calls = new Map<string, ToolState>();
  const answers = new Map<string, boolean>();
  const texts = new Map<string, string>();
  for (const part of content.parts) {
    const asked = part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? part : undefined;
    if (part.type === 'tool-invocation') calls.set(part.toolCallId, part.state);
    if (asked) answers.set(asked.questionId, asked.answer !== undefined);
    if (part.id !== undefined) texts.set(part.id, textOf(part) ?? '');
  }
  for (const [id, { state }] of known.calls) {
    const stated = calls.get(id);
    if (stated === undefined || takesBack(state, stated)) return { id, why: 'It would take a call back.' };
  }
  for (const [id, { answered }] of known.questions) {
    if (!answers.has(id) || (answered && !answers.get(id))) return { id, why: 'It would take a question back.' };
  }
  for (const [id, text] of known.earlier?.texts ?? []) {
    if (texts.get(id) !== text) return { id, why: 'It would edit what an earlier run has said.' };
  }
  const runs = new Set(content.runs?.map(({ runId }) => runId));
  for (const id of known.earlier?.runs ?? []) if (!runs.has(id)) return { id, why: 'It leaves out an earlier run.' };
  return undefined;
}

/** Of a text or a reasoning: what it says. */
export function textOf(part: MessagePart): string | undefined {
  return part.type === 'text' ? part.text : part.type === 'reasoning' ? part.reasoning : undefined;
}
