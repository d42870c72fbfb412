import { useEffect, useState } from 'react';
import { api } from '../api.ts';
import type { ThreadSession } from '../chat/session/thread-session.ts';
import { onThreadsChanged } from '../thread-changes.ts';

/** Loads the thread's title, and suggests its last agent to the session. */
export function useThreadTitle(session: ThreadSession, isNew: boolean): string {
  const [title, setTitle] = useState('');
  useEffect(() => {
    if (isNew) return undefined;
    let isUnmounted = false;
    const load = async (): Promise<void> => {
      const { thread } = await api.thread(session.threadId);
      if (isUnmounted) return;
      setTitle(thread.title ?? 'Untitled');
      if (thread.agent !== undefined) session.suggestAgent(thread.agent);
    };
    const refresh = (): void => void load().catch(() => undefined);
    refresh();
    const unsubscribe = onThreadsChanged(refresh);
    return () => {
      isUnmounted = true;
      unsubscribe();
    };
  }, [session, isNew]);
  return title;
}
