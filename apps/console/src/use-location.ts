import { useSyncExternalStore } from 'react';

export const panes = ['streams', 'topology', 'timeline', 'tree', 'tape', 'prompts'] as const;
export type Pane = (typeof panes)[number];
export const views = ['threads', 'chat', 'inspect'] as const;
/** Column that a narrow screen shows. */
export type View = (typeof views)[number];

/** State of the page that is stored in its URL. */
export type Location = {
  thread: string | undefined;
  /** Message of the thread that the chat scrolls to. */
  message?: string | undefined;
  pane: Pane;
  view: View;
};

const changeEvent = 'intertie:navigate';

/** Returns the current location. Ids are in the query: a path with a dot would be treated as a file. */
export function useLocation(): Location {
  const search = useSyncExternalStore(subscribe, () => location.search);
  return parseLocation(search);
}

export function parseLocation(search: string): Location {
  const query = new URLSearchParams(search);
  const pane = query.get('pane') as Pane;
  const view = query.get('view') as View;
  const message = query.get('message') || undefined;
  return {
    thread: query.get('thread') || undefined,
    ...(message !== undefined && { message }),
    pane: panes.includes(pane) ? pane : 'streams',
    view: views.includes(view) ? view : 'chat',
  };
}

/** Updates the URL. Changing the thread adds a history entry; other changes replace the current one. */
export function navigate(change: Partial<Location>): void {
  const query = new URLSearchParams(location.search);
  if ('thread' in change) query.delete('message');
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) query.delete(name);
    else query.set(name, value);
  }
  const search = query.size === 0 ? '' : `?${query}`;
  if (search === location.search) return;
  const isStep = 'thread' in change && change.thread !== parseLocation(location.search).thread;
  history[isStep ? 'pushState' : 'replaceState'](undefined, '', location.pathname + search);
  dispatchEvent(new Event(changeEvent));
}

function subscribe(listener: () => void): () => void {
  addEventListener('popstate', listener);
  addEventListener(changeEvent, listener);
  return () => {
    removeEventListener('popstate', listener);
    removeEventListener(changeEvent, listener);
  };
}
