import { useState, useSyncExternalStore, type ReactNode } from 'react';
import type { PaneProps, Selection } from '../inspect-types.ts';
import type { Pane } from '../use-location.ts';
import { computeInspectorWidth } from './inspector-width.ts';
import { Inspector } from './inspector.tsx';
import { Resizer } from './resizer.tsx';
import { useStoredSetting } from '../use-stored-setting.ts';

function onWindowResize(listener: () => void): () => void {
  addEventListener('resize', listener);
  return () => removeEventListener('resize', listener);
}

/** The inspector in its column, with the width that the user chose. */
export function InspectorFrame({
  onClose,
  pane,
  ...props
}: Omit<PaneProps, 'selection' | 'onSelect'> & { pane: Pane; onClose: () => void }): ReactNode {
  // 0: no width was chosen.
  const [chosen, setChosen] = useStoredSetting<number>('inspector-width', 0);
  const [selection, onSelect] = useState<Selection>();
  const windowWidth = useSyncExternalStore(onWindowResize, () => innerWidth);
  const { width, min, max } = computeInspectorWidth(windowWidth, chosen || undefined);
  return (
    <aside className="inspector-frame" aria-label="Inspector" style={{ width }}>
      <Resizer width={width} min={min} max={max} onResize={setChosen} />
      <Inspector {...props} pane={pane} selection={selection} onSelect={onSelect} onClose={onClose} />
    </aside>
  );
}
