import './inspect.css';
import './topology/topology.css';
import { ReactFlowProvider } from '@xyflow/react';
import { useMemo, useRef, type ReactNode } from 'react';
import type { PaneProps } from '../inspect-types.ts';
import { Button } from '../ui/button.tsx';
import { useAgentColor } from '../agents/use-agent-color.ts';
import { navigate } from '../use-location.ts';
import { useTopology } from '../agents/use-topology.ts';
import { TopologyActivity } from './topology/agent-activity.ts';
import { buildAgentGraph, type AgentNode } from './topology/agent-graph.ts';
import { nodeSize, TopologyGraph } from './topology/topology-graph.tsx';
import { useFold } from './use-fold.ts';
import { usePaneKeys } from './use-pane-keys.ts';
import { useElementSize } from '../ui/use-element-size.ts';

const renderIntervalMs = 100;

const createActivity = (): TopologyActivity => new TopologyActivity();

/** Graph of a swarm's agents or a flow's nodes, with their messages and current state. */
export function TopologyPane({ agent, events, selection, onSelect }: PaneProps): ReactNode {
  const topology = useTopology(agent);
  const view = useFold(events, createActivity, renderIntervalMs);
  const { run } = view;
  const box = useRef<HTMLDivElement>(null);
  const size = useElementSize(box);
  const graph = useMemo(() => buildAgentGraph(topology, view.fold, nodeSize, size), [topology, view, size]);
  const selected = selection?.type === 'agent' ? selection.name : undefined;
  const select = (name: string | undefined): void => onSelect(name === undefined ? undefined : { type: 'agent', name });

  const move = (by: number): void => {
    const at = graph.nodes.findIndex(({ name }) => name === selected);
    const next = graph.nodes.at((at + by) % graph.nodes.length);
    if (next) select(next.name);
  };
  usePaneKeys({
    j: () => move(1),
    k: () => move(selected === undefined ? 0 : -1),
    Escape: () => select(undefined),
    o: () => selected !== undefined && navigate({ pane: 'streams' }),
  });

  const chosen = graph.nodes.find(({ name }) => name === selected);
  return (
    <div className="topology" tabIndex={-1}>
      <div ref={box} className="topology-graph">
        {graph.nodes.length === 0 && <p className="empty">No agents yet. They appear when a run names them.</p>}
        <ReactFlowProvider>
          <TopologyGraph
            graph={graph}
            now={view.fold.count}
            isLive={run.status === 'live'}
            selected={selected}
            onSelect={select}
          />
        </ReactFlowProvider>
      </div>
      <footer className="topology-foot" aria-live="polite">
        {chosen ? (
          <SelectedAgent agent={chosen} />
        ) : (
          <span className="note" hidden={graph.nodes.length === 0}>
            {graph.nodes.length} {graph.nodes.length === 1 ? 'agent' : 'agents'}. Select one to filter the streams.
          </span>
        )}
      </footer>
    </div>
  );
}

function SelectedAgent({ agent }: { agent: AgentNode }): ReactNode {
  const getColor = useAgentColor();
  return (
    <>
      <strong style={{ color: getColor(agent.name) }}>{agent.name}</strong>
      <span className="note">{agent.description}</span>
      <Button variant="quiet" onClick={() => navigate({ pane: 'streams' })}>
        Show in streams
      </Button>
    </>
  );
}
