import { useSyncExternalStore } from 'react';

function subscribe(listener: () => void): () => void {
  addEventListener('resize', listener);
  return () => removeEventListener('resize', listener);
}

/** How wide the window is, as it is resized. */
export function useWindowWidth(): number {
  return useSyncExternalStore(subscribe, () => innerWidth);
}
