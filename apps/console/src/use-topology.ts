import type { Topology } from '@intertie/core';
import { useEffect, useState } from 'react';
import { api } from './api.ts';

/** Who an agent is made of does not change while a page is open, and more than one part of it asks. */
const asked = new Map<string, Promise<Topology | undefined>>();

/** Absent where the runtime does not describe itself; what is seen in the run is shown all the same. */
export function useTopology(agent: string | undefined): Topology | undefined {
  const [found, setFound] = useState<{ agent: string; topology: Topology | undefined }>();
  useEffect(() => {
    if (agent === undefined) return undefined;
    let isCurrent = true;
    void topologyOf(agent).then((topology) => isCurrent && setFound({ agent, topology }));
    return () => void (isCurrent = false);
  }, [agent]);
  return found?.agent === agent ? found?.topology : undefined;
}

function topologyOf(agent: string): Promise<Topology | undefined> {
  const known = asked.get(agent);
  if (known) return known;
  const asking = ask(agent).catch(() => {
    // Next time it may answer.
    asked.delete(agent);
    return undefined;
  });
  asked.set(agent, asking);
  return asking;
}

async function ask(agent: string): Promise<Topology | undefined> {
  const { agents } = await api.server();
  return agents.some(({ name, hasTopology }) => name === agent && hasTopology) ? api.topology(agent) : undefined;
}
