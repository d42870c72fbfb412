import { useEffect, useState, useSyncExternalStore } from 'react';
import { preloadMarkdown } from '../message/markdown.tsx';
import { ThreadSession, type Draft, type SessionState } from './thread-session.ts';

const maxSessions = 12;

/** Most recently used sessions, so that returning to a thread is instant and its answers are read meanwhile. */
const sessions = new Map<string, ThreadSession>();

function getSession(threadId: string, options: { isNew: boolean; agent?: string }): ThreadSession {
  const session = sessions.get(threadId) ?? new ThreadSession(threadId, options);
  // Moves the session to the end: the map is in order of use.
  sessions.delete(threadId);
  sessions.set(threadId, session);
  for (const [id, old] of sessions) if (sessions.size > maxSessions && !old.isBusy) sessions.delete(id);
  return session;
}

/** Starts a thread with its first message. */
export function startThread(threadId: string, agent: string | undefined, draft: Draft): void {
  getSession(threadId, { isNew: true, ...(agent !== undefined && { agent }) }).send(draft);
}

export function forgetSession(threadId: string): void {
  sessions.delete(threadId);
}

/** Returns the session of a thread. The component must have the thread id as its key. */
export function useSession(threadId: string): { session: ThreadSession; state: SessionState } {
  const [session] = useState(() => getSession(threadId, { isNew: false }));
  useEffect(() => {
    const close = session.open();
    // After the requests of the session, and not only when its messages arrive.
    preloadMarkdown();
    return close;
  }, [session]);
  const state = useSyncExternalStore(session.subscribe, session.snapshot);
  return { session, state };
}
