import { useState, type ReactNode } from 'react';
import type { PaneProps, Selection } from '../inspect-types.ts';
import type { Pane } from '../use-location.ts';
import { inspectorWidth } from './inspector-width.ts';
import { Inspector } from './inspector.tsx';
import { Resizer } from './resizer.tsx';
import { useStored } from './use-stored.ts';
import { useWindowWidth } from './use-window-width.ts';

/** The inspector in its column, as wide as it was left. */
export function InspectorFrame({
  onClose,
  pane,
  ...props
}: Omit<PaneProps, 'selection' | 'onSelect'> & { pane: Pane; onClose: () => void }): ReactNode {
  // 0: nobody has said how wide.
  const [chosen, setChosen] = useStored<number>('inspector-width', 0);
  const [selection, onSelect] = useState<Selection>();
  const { width, min, max } = inspectorWidth(useWindowWidth(), chosen || undefined);
  return (
    <aside className="inspector-frame" aria-label="Inspector" style={{ width }}>
      <Resizer width={width} min={min} max={max} onResize={setChosen} />
      <Inspector {...props} pane={pane} selection={selection} onSelect={onSelect} onClose={onClose} />
    </aside>
  );
}
