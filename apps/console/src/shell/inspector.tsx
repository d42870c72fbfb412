import { lazy, Suspense, type ReactNode } from 'react';
import type { PaneProps } from '../inspect-types.ts';
import { IconButton } from '../ui/button.tsx';
import { Guard } from '../ui/guard.tsx';
import { TabList, type Tab } from '../ui/tab-list.tsx';
import { go, type Pane } from '../use-location.ts';

const bodies = {
  streams: lazy(() => import('../inspect/streams-pane.tsx').then((module) => ({ default: module.StreamsPane }))),
  topology: lazy(() => import('../inspect/topology-pane.tsx').then((module) => ({ default: module.TopologyPane }))),
  timeline: lazy(() => import('../inspect/timeline-pane.tsx').then((module) => ({ default: module.TimelinePane }))),
  tree: lazy(() => import('../inspect/tree-pane.tsx').then((module) => ({ default: module.TreePane }))),
  tape: lazy(() => import('../inspect/tape-pane.tsx').then((module) => ({ default: module.TapePane }))),
};

const tabs: ReadonlyArray<Tab<Pane>> = [
  { id: 'streams', label: 'Streams' },
  { id: 'topology', label: 'Topology' },
  { id: 'timeline', label: 'Timeline' },
  { id: 'tree', label: 'Tree' },
  { id: 'tape', label: 'Tape' },
];

/** The run beside the chat, in five ways. A pane's code comes when it is first looked at. */
export function Inspector({ pane, onClose, ...props }: PaneProps & { pane: Pane; onClose: () => void }): ReactNode {
  const Body = bodies[pane];
  return (
    <div className="inspector">
      <header className="bar">
        <TabList label="Views of the run" tabs={tabs} active={pane} onChange={(id) => go({ pane: id })} />
        <span className="grow" />
        <IconButton className="wide-only" icon="close" label="Close the inspector" keys="i" onClick={onClose} />
      </header>
      <div id={`panel-${pane}`} className="pane" role="tabpanel" aria-labelledby={`tab-${pane}`}>
        <Suspense fallback={<p className="empty">Loading…</p>}>
          <Guard key={pane} news={props.runId}>
            <Body {...props} />
          </Guard>
        </Suspense>
      </div>
    </div>
  );
}
