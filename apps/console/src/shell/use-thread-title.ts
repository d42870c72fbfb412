import { useEffect, useState } from 'react';
import { api } from '../api.ts';
import type { SessionState } from '../chat/thread-session.ts';
import { onThreads } from '../threads/thread-news.ts';

/** A thread's title, and whose it was last. */
export function useThreadTitle(threadId: string, { status }: SessionState): { title: string; agent?: string } {
  const [known, setKnown] = useState<{ title: string; agent?: string }>({ title: '' });
  useEffect(() => {
    let isOver = false;
    const ask = async (): Promise<void> => {
      const { title = 'Untitled', agent } = (await api.thread(threadId)).thread;
      if (!isOver) setKnown({ title, ...(agent !== undefined && { agent }) });
    };
    // It fails for a thread that nothing was said in yet.
    const look = (): void => void ask().catch(() => undefined);
    look();
    const stop = onThreads(look);
    return () => {
      isOver = true;
      stop();
    };
  }, [threadId, status]);
  return known;
}
