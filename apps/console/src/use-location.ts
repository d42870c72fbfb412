import { useSyncExternalStore } from 'react';

export const panes = ['streams', 'topology', 'timeline', 'tree', 'tape'] as const;
export type Pane = (typeof panes)[number];
export const views = ['threads', 'chat', 'inspect'] as const;
/** Which of the three a phone shows. */
export type View = (typeof views)[number];

/** What the page shows, as its address says: a link opens the same. */
export type Location = { thread: string | undefined; pane: Pane; view: View };

const key = 'intertie:go';

/** Where the page is. Ids are in the query: as a path, one with a dot would be taken for a file. */
export function useLocation(): Location {
  const search = useSyncExternalStore(subscribe, () => location.search);
  return parseLocation(search);
}

export function parseLocation(search: string): Location {
  const query = new URLSearchParams(search);
  const pane = query.get('pane') as Pane;
  const view = query.get('view') as View;
  return {
    thread: query.get('thread') || undefined,
    pane: panes.includes(pane) ? pane : 'streams',
    view: views.includes(view) ? view : 'chat',
  };
}

/** Goes there. Another thread is a step back in the history; another pane is none. */
export function go(change: Partial<Location>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) query.delete(name);
    else query.set(name, value);
  }
  const search = query.size === 0 ? '' : `?${query}`;
  if (search === location.search) return;
  const isStep = 'thread' in change && change.thread !== parseLocation(location.search).thread;
  history[isStep ? 'pushState' : 'replaceState'](undefined, '', location.pathname + search);
  dispatchEvent(new Event(key));
}

function subscribe(listener: () => void): () => void {
  addEventListener('popstate', listener);
  addEventListener(key, listener);
  return () => {
    removeEventListener('popstate', listener);
    removeEventListener(key, listener);
  };
}
