import { useEffect, useState } from 'react';
import { api, formatError, type ServerInfo } from '../api.ts';

const retryMs = 3000;

/** Loads the server info and retries until the server answers. */
export function useServer(): { server: ServerInfo | undefined; error: string | undefined } {
  const [server, setServer] = useState<ServerInfo>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isUnmounted = false;
    const load = async (): Promise<void> => {
      try {
        const info = await api.server();
        if (isUnmounted) return;
        setServer(info);
        setError(undefined);
      } catch (cause) {
        if (isUnmounted) return;
        setError(formatError(cause));
        timer = setTimeout(() => void load(), retryMs);
      }
    };
    void load();
    return () => {
      isUnmounted = true;
      clearTimeout(timer);
    };
  }, []);
  return { server, error };
}
