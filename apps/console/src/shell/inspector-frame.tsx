import { useState, type ReactNode } from 'react';
import type { PaneProps, Selection } from '../inspect-types.ts';
import type { Pane } from '../use-location.ts';
import { Inspector } from './inspector.tsx';
import { Resizer } from './resizer.tsx';
import { useStored } from './use-stored.ts';

const narrowest = 320;
const chatNeeds = 560;

/** The inspector in its column, as wide as it was left. */
export function InspectorFrame({
  onClose,
  pane,
  ...props
}: Omit<PaneProps, 'selection' | 'onSelect'> & { pane: Pane; onClose: () => void }): ReactNode {
  const [width, setWidth] = useStored<number>('inspector-width', 460);
  const [selection, onSelect] = useState<Selection>();
  const max = Math.max(narrowest, innerWidth - chatNeeds);
  return (
    <aside className="inspector-frame" aria-label="Inspector" style={{ width: Math.min(width, max) }}>
      <Resizer width={Math.min(width, max)} min={narrowest} max={max} onResize={setWidth} />
      <Inspector {...props} pane={pane} selection={selection} onSelect={onSelect} onClose={onClose} />
    </aside>
  );
}
