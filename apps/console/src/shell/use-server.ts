import { useEffect, useState } from 'react';
import { api, formatError, type ServerInfo } from '../api.ts';
import { createServerLists, type ServerLists } from '../server-lists.ts';

const retryMs = 3000;

type LoadedServer = { server: ServerInfo | undefined; lists: ServerLists | undefined; error: string | undefined };

/** Loads the server info and its lists, and retries until the server answers. */
export function useServer(): LoadedServer {
  const [server, setServer] = useState<ServerInfo>();
  const [lists, setLists] = useState<ServerLists>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isUnmounted = false;
    const load = async (): Promise<void> => {
      try {
        const [info, names] = await Promise.all([api.server(), api.protocols()]);
        if (isUnmounted) return;
        setServer(info);
        setLists(createServerLists(names));
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
  return { server, lists, error };
}
