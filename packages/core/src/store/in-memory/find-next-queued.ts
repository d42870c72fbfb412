import { findMessage } from './conversation.ts';
import type { MessageRow, RunRow, ThreadRow } from './tables.ts';

/**
 * Finds the queued run that starts next: the oldest, continuations included. But no run starts before the continuation of an answer
 * that it follows, because it would find that answer unfinished.
 */
export function findNextQueued(thread: ThreadRow): RunRow | undefined {
  const queued = [...thread.runs.values()].filter((run) => run.state === 'queued');
  const unfinished = new Set(queued.filter((run) => run.resumes).map((run) => run.message));
  return queued.find((run) => !followsAny(unfinished, run.message));
}

function followsAny(answers: ReadonlySet<MessageRow>, { thread, message }: MessageRow): boolean {
  if (answers.size === 0) return false;
  for (let id = message.parentId; id !== undefined;) {
    const row = findMessage(thread, id);
    if (!row) return false;
    if (answers.has(row)) return true;
    id = row.message.parentId;
  }
  return false;
}
