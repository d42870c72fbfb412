import './ui/ui.css';
import './shell/shell.css';
import { useState, type ReactNode } from 'react';
import type { Selection } from './inspect-types.ts';
import { noRun } from './run-events.ts';
import { BottomBar } from './shell/bottom-bar.tsx';
import { Inspector } from './shell/inspector.tsx';
import { Resizer } from './shell/resizer.tsx';
import { useStored } from './shell/use-stored.ts';
import { useLocation } from './use-location.ts';

const narrowest = 320;
const nothing = (): void => undefined;

export function App(): ReactNode {
  const { thread, pane, view } = useLocation();
  const [width, setWidth] = useStored<number>('inspector-width', 480);
  const [isOpen, setOpen] = useStored<boolean>('inspector-open', true);
  const [selection, onSelect] = useState<Selection>();

  return (
    <div className="shell" data-view={view}>
      <nav className="sidebar" aria-label="Threads" />
      <main className="chat" />
      {(isOpen || view === 'inspect') && (
        <div className="inspector-frame" style={{ width }}>
          <Resizer width={width} min={narrowest} max={Math.max(narrowest, innerWidth - 560)} onResize={setWidth} />
          <Inspector
            pane={pane}
            threadId={thread ?? ''}
            events={noRun}
            selection={selection}
            onSelect={onSelect}
            onLeaf={nothing}
            onScrub={nothing}
            onTape={nothing}
            onClose={() => setOpen(false)}
          />
        </div>
      )}
      <BottomBar view={view} />
    </div>
  );
}
