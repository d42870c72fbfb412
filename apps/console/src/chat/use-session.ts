import { useEffect, useState, useSyncExternalStore } from 'react';
import { ThreadSession, type Draft, type SessionState } from './thread-session.ts';

const maxKept = 12;

/** The threads that were looked at last: who comes back finds them as they were, and their answers are read meanwhile. */
const sessions = new Map<string, ThreadSession>();

function sessionOf(threadId: string, options: { isNew: boolean; agent?: string }): ThreadSession {
  const session = sessions.get(threadId) ?? new ThreadSession(threadId, options);
  // Back to the end of the line.
  sessions.delete(threadId);
  sessions.set(threadId, session);
  for (const [id, old] of sessions) if (sessions.size > maxKept && !old.isBusy) sessions.delete(id);
  return session;
}

/** Begins a thread with its first message. */
export function beginThread(threadId: string, agent: string | undefined, draft: Draft): void {
  sessionOf(threadId, { isNew: true, ...(agent !== undefined && { agent }) }).send(draft);
}

export function forgetSession(threadId: string): void {
  sessions.delete(threadId);
}

/** The thread that is shown, and what is known of it. Another thread is another component. */
export function useSession(threadId: string): { session: ThreadSession; state: SessionState } {
  const [session] = useState(() => sessionOf(threadId, { isNew: false }));
  useEffect(() => session.open(), [session]);
  const state = useSyncExternalStore(session.subscribe, session.snapshot);
  return { session, state };
}
