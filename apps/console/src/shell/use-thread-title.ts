import { useEffect, useState } from 'react';
import { api } from '../api.ts';
import type { ThreadSession } from '../chat/thread-session.ts';
import { onThreads } from '../threads/thread-news.ts';

/** A thread's title. Its session is told whose it was last. */
export function useThreadTitle(session: ThreadSession, isNew: boolean): string {
  const [title, setTitle] = useState('');
  useEffect(() => {
    if (isNew) return undefined;
    let isOver = false;
    const ask = async (): Promise<void> => {
      const { thread } = await api.thread(session.threadId);
      if (isOver) return;
      setTitle(thread.title ?? 'Untitled');
      if (thread.agent !== undefined) session.suggestAgent(thread.agent);
    };
    const look = (): void => void ask().catch(() => undefined);
    look();
    const stop = onThreads(look);
    return () => {
      isOver = true;
      stop();
    };
  }, [session, isNew]);
  return title;
}
