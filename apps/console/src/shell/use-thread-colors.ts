import { use, useMemo, useSyncExternalStore } from 'react';
import { assignColors, type ColorIndex } from '../agents/agent-color.ts';
import type { RunEvents } from '../inspect-types.ts';
import { AgentColors } from '../agents/use-agent-color.ts';

const separator = '\n';

/**
 * Assigns colors to the agents of a thread: the server's agents that answered in it (`authors`), other agents that take part in it
 * (`members`), and the agents of the inspected run.
 */
export function useThreadColors(authors: readonly string[], members: readonly string[], events: RunEvents): ColorIndex {
  const preferred = use(AgentColors);
  const store = useMemo(() => createNameStore(events), [events]);
  const seen = useSyncExternalStore(events.subscribe, store);
  // Strings compare by value, so the colors are computed again only when the set of names changes.
  const known = joinNames(authors);
  const others = joinNames([...members, ...seen.split(separator)]);
  return useMemo(
    () => assignColors(others.split(separator), preferred, known === '' ? [] : known.split(separator)),
    [known, others, preferred],
  );
}

function joinNames(names: readonly string[]): string {
  return [...new Set(names)]
    .filter((name) => name !== '')
    .toSorted()
    .join(separator);
}

/** Collects the agent names of a run as one string. Reads each event once. */
function createNameStore(events: RunEvents): () => string {
  let names = new Set<string>();
  let text = '';
  let count = 0;
  return () => {
    const { entries } = events.snapshot();
    if (entries.length < count) {
      names = new Set();
      count = 0;
      text = '';
    }
    const before = names.size;
    for (; count < entries.length; count += 1) {
      const { event } = entries[count]!;
      if (event.type === 'agent-start') names.add(event.name);
      else if (event.type === 'message-snapshot')
        for (const { name } of Object.values(event.content.agents ?? {})) names.add(name);
    }
    if (names.size !== before) text = [...names].join(separator);
    return text;
  };
}
