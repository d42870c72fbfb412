import { useSyncExternalStore, type ReactNode } from 'react';
import type { PaneProps } from '../inspect-types.ts';

export function TapePane({ events }: PaneProps): ReactNode {
  const { entries, status } = useSyncExternalStore(events.subscribe, events.snapshot);
  return (
    <p className="empty">
      {entries.length} events, {status}.
    </p>
  );
}
