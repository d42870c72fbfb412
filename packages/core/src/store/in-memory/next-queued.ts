import { findMessage } from './conversation.ts';
import type { MessageRow, RunRow, ThreadRow } from './tables.ts';

/**
 * The next in line: who came first, a continuation too. But nobody goes before the continuation of an answer that he
 * follows: he was queued behind that answer, and would find it unfinished.
 */
export function nextQueued(thread: ThreadRow): RunRow | undefined {
  const queued = [...thread.runs.values()].filter((run) => run.state === 'queued');
  const unfinished = new Set(queued.filter((run) => run.resumes).map((run) => run.message));
  return queued.find((run) => !followsOneOf(unfinished, run.message));
}

function followsOneOf(answers: ReadonlySet<MessageRow>, { thread, message }: MessageRow): boolean {
  if (answers.size === 0) return false;
  for (let id = message.parentId; id !== undefined;) {
    const row = findMessage(thread, id);
    if (!row) return false;
    if (answers.has(row)) return true;
    id = row.message.parentId;
  }
  return false;
}
