import { use, useMemo, useSyncExternalStore } from 'react';
import { assignColors, type ColorIndex } from '../agent-color.ts';
import type { RunEvents } from '../inspect-types.ts';
import { AgentColors } from '../use-agent-color.ts';

const separator = '\n';

/**
 * The colours of a thread's agents: those of the server that answer in it (`authors`), those who are known to work in it, and those
 * of the run that is looked at.
 */
export function useThreadColors(authors: readonly string[], workers: readonly string[], events: RunEvents): ColorIndex {
  const elsewhere = use(AgentColors);
  const store = useMemo(() => agentsStore(events), [events]);
  const seen = useSyncExternalStore(events.subscribe, store);
  // As texts, so that the colours are others only when somebody else is there.
  const known = listed(authors);
  const others = listed([...workers, ...seen.split(separator)]);
  return useMemo(
    () => assignColors(others.split(separator), elsewhere, known === '' ? [] : known.split(separator)),
    [known, others, elsewhere],
  );
}

function listed(names: readonly string[]): string {
  return [...new Set(names)]
    .filter((name) => name !== '')
    .toSorted()
    .join(separator);
}

/** The names of a run's agents, as one text. Each event is looked at once. */
function agentsStore(events: RunEvents): () => string {
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
