import { useEffect, useState } from 'react';
import { api, messageOf, type ServerInfo } from '../api.ts';

const retryMs = 3000;

/** What the server says of itself. While it does not answer, it is asked again. */
export function useServer(): { server: ServerInfo | undefined; error: string | undefined } {
  const [server, setServer] = useState<ServerInfo>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const ask = async (): Promise<void> => {
      try {
        const info = await api.server();
        if (isOver) return;
        setServer(info);
        setError(undefined);
      } catch (problem) {
        if (isOver) return;
        setError(messageOf(problem));
        timer = setTimeout(() => void ask(), retryMs);
      }
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);
  return { server, error };
}
