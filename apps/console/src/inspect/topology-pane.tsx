import './inspect.css';
import './topology/topology.css';
import { ReactFlowProvider } from '@xyflow/react';
import { useMemo, useRef, type ReactNode } from 'react';
import type { PaneProps } from '../inspect-types.ts';
import { Button } from '../ui/button.tsx';
import { useAgentColor } from '../use-agent-color.ts';
import { navigate } from '../use-location.ts';
import { useTopology } from '../use-topology.ts';
import { TopologyActivity } from './topology/agent-activity.ts';
import { agentGraph, type AgentNode } from './topology/agent-graph.ts';
import { nodeSize, TopologyGraph } from './topology/topology-graph.tsx';
import { useFold } from './use-fold.ts';
import { usePaneKeys } from './use-pane-keys.ts';
import { useRoom } from './use-room.ts';

/** Who works is seen at a glance. */
const drawnMs = 100;

const createActivity = (): TopologyActivity => new TopologyActivity();

/** A swarm's agents or a flow's nodes, who speaks to whom, and who is at it now. */
export function TopologyPane({ agent, events, selection, onSelect }: PaneProps): ReactNode {
  const topology = useTopology(agent);
  const view = useFold(events, createActivity, drawnMs);
  const { run } = view;
  const box = useRef<HTMLDivElement>(null);
  const room = useRoom(box);
  const graph = useMemo(() => agentGraph(topology, view.fold, nodeSize, room), [topology, view, room]);
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
        {graph.nodes.length === 0 && (
          <p className="empty">No agent has been seen yet, and the runtime does not say who there is.</p>
        )}
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
          <Chosen agent={chosen} />
        ) : (
          <span className="note">
            {graph.nodes.length} {graph.nodes.length === 1 ? 'agent' : 'agents'}. Choose one to see its part of the
            streams.
          </span>
        )}
      </footer>
    </div>
  );
}

function Chosen({ agent }: { agent: AgentNode }): ReactNode {
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
