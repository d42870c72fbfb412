import { lazy, Suspense, type ReactNode } from 'react';
import type { PaneProps } from '../inspect-types.ts';
import { IconButton } from '../ui/button.tsx';
import { ErrorBoundary } from '../ui/error-boundary.tsx';
import { TabList, type Tab } from '../ui/tab-list.tsx';
import { navigate, type Pane } from '../use-location.ts';

const bodies = {
  streams: lazy(() => import('../inspect/streams-pane.tsx').then((module) => ({ default: module.StreamsPane }))),
  topology: lazy(() => import('../inspect/topology-pane.tsx').then((module) => ({ default: module.TopologyPane }))),
  timeline: lazy(() => import('../inspect/timeline-pane.tsx').then((module) => ({ default: module.TimelinePane }))),
  tree: lazy(() => import('../inspect/tree-pane.tsx').then((module) => ({ default: module.TreePane }))),
  tape: lazy(() => import('../inspect/tape-pane.tsx').then((module) => ({ default: module.TapePane }))),
  prompts: lazy(() => import('../inspect/prompts-pane.tsx').then((module) => ({ default: module.PromptsPane }))),
};

const tabs: ReadonlyArray<Tab<Pane>> = [
  { id: 'streams', label: 'Streams', title: 'The events of the run, from the runtime to the client' },
  { id: 'topology', label: 'Topology', title: 'The agents of the run and the messages between them' },
  { id: 'timeline', label: 'Timeline', title: 'What the run did when, and how long it took' },
  { id: 'tree', label: 'Tree', title: 'All messages of the thread, with every version' },
  { id: 'tape', label: 'Tape', title: 'The run as a recording: play, save, or open one' },
  { id: 'prompts', label: 'Prompts', title: 'What the model was sent, with tokens and cost' },
];

/** Six views of the run next to the chat. The code of a pane is loaded when it is first shown. */
export function Inspector({ pane, onClose, ...props }: PaneProps & { pane: Pane; onClose: () => void }): ReactNode {
  const Body = bodies[pane];
  return (
    <div className="inspector">
      <header className="bar">
        <TabList label="Inspector views" tabs={tabs} active={pane} onChange={(id) => navigate({ pane: id })} />
        <span className="grow" />
        <IconButton className="wide-only" icon="close" label="Close inspector" keys="i" onClick={onClose} />
      </header>
      <div id={`panel-${pane}`} className="pane" role="tabpanel" aria-labelledby={`tab-${pane}`}>
        <Suspense fallback={<p className="empty">Loading…</p>}>
          <ErrorBoundary key={pane} resetKey={props.runId}>
            <Body {...props} />
          </ErrorBoundary>
        </Suspense>
      </div>
    </div>
  );
}
