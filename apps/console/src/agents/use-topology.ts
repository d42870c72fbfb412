import type { Topology } from '@intertie/core/internal';
import { useEffect, useState } from 'react';
import { api } from '../api.ts';

/** Shared by all components: a topology does not change while the page is open. */
const cache = new Map<string, Promise<Topology | undefined>>();

/** Returns the declared topology of an agent; undefined while loading and if its runtime declares none. */
export function useTopology(agent: string | undefined): Topology | undefined {
  const [found, setFound] = useState<{ agent: string; topology: Topology | undefined }>();
  useEffect(() => {
    if (agent === undefined) return undefined;
    let isCurrent = true;
    void loadTopology(agent).then((topology) => isCurrent && setFound({ agent, topology }));
    return () => void (isCurrent = false);
  }, [agent]);
  return found?.agent === agent ? found?.topology : undefined;
}

function loadTopology(agent: string): Promise<Topology | undefined> {
  const cached = cache.get(agent);
  if (cached) return cached;
  const loading = fetchTopology(agent).catch(() => {
    // Allows a retry.
    cache.delete(agent);
    return undefined;
  });
  cache.set(agent, loading);
  return loading;
}

async function fetchTopology(agent: string): Promise<Topology | undefined> {
  const { agents } = await api.server();
  return agents.some(({ name, hasTopology }) => name === agent && hasTopology) ? api.topology(agent) : undefined;
}
