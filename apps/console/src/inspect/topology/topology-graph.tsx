import '@xyflow/react/dist/base.css';
import {
  Background,
  BaseEdge,
  EdgeLabelRenderer,
  Handle,
  MarkerType,
  Position,
  ReactFlow,
  getViewportForBounds,
  useReactFlow,
  useStore,
  type Edge,
  type EdgeProps,
  type Node,
  type NodeProps,
} from '@xyflow/react';
import { useEffect, useMemo, type ReactNode } from 'react';
import { useAgentColor } from '../../agents/use-agent-color.ts';
import type { AgentEdge, AgentGraph, AgentNode } from './agent-graph.ts';
import { computeEdgeLine, type Box, type EdgeLine } from './edge-line.ts';
import { computeExtent } from './layered-layout.ts';

export const nodeSize = { nodeWidth: 176, nodeHeight: 52, gap: 44, layerGap: 84 };

type FlowNode = Node<{ agent: AgentNode; isBusy: boolean }, 'agent'>;
type FlowEdge = Edge<{ edge: AgentEdge; line: EdgeLine; isBusy: boolean; isFaint: boolean }, 'line'>;

/** Fixed size: React Flow would hide the edges of a node until it has measured the node again. */
const measured = { width: nodeSize.nodeWidth, height: nodeSize.nodeHeight };
const handles: NonNullable<FlowNode['handles']> = [
  { type: 'target', position: Position.Top, x: measured.width / 2, y: 0 },
  { type: 'source', position: Position.Bottom, x: measured.width / 2, y: measured.height },
];

const nodeTypes = { agent: AgentCard };
const edgeTypes = { line: Line };

/** Pannable graph of agents. Nodes cannot be dragged, so the same swarm always looks the same. */
export function TopologyGraph(props: {
  graph: AgentGraph;
  /** Number of events so far. Edges with a recent event are drawn as active. */
  now: number;
  isLive: boolean;
  selected: string | undefined;
  onSelect: (name: string | undefined) => void;
}): ReactNode {
  const { graph, now, isLive, selected, onSelect } = props;
  const nodes = useMemo(
    () =>
      graph.nodes.map((agent): FlowNode => ({
        id: agent.name,
        type: 'agent',
        position: { x: agent.x, y: agent.y },
        ...measured,
        measured,
        handles,
        data: { agent, isBusy: isLive && agent.activity?.state === 'working' },
        selected: agent.name === selected,
        ariaLabel: `${agent.name}, ${agent.activity?.state ?? 'not seen yet'}`,
      })),
    [graph, isLive, selected],
  );
  const edges = useMemo(() => {
    const boxes = new Map(graph.nodes.map((node) => [node.name, toBox(node)]));
    return graph.edges.map((edge): FlowEdge => {
      const isRelated = selected === undefined || edge.from === selected || edge.to === selected;
      const isBusy = isLive && edge.activity !== undefined && now - edge.activity.lastEvent < 40;
      return {
        id: edge.id,
        type: 'line',
        source: edge.from,
        target: edge.to,
        focusable: false,
        markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: 'var(--ink-faint)' },
        data: {
          edge,
          line: computeEdgeLine(boxes.get(edge.from)!, boxes.get(edge.to)!, edge.isMutual, [...boxes.values()]),
          isBusy,
          isFaint: !isRelated,
        },
      };
    });
  }, [graph, now, isLive, selected]);
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
      nodesDraggable={false}
      nodesConnectable={false}
      edgesFocusable={false}
      deleteKeyCode={null}
      minZoom={0.3}
      maxZoom={1.6}
      proOptions={{ hideAttribution: true }}
      onNodeClick={(_, node) => onSelect(node.id === selected ? undefined : node.id)}
      onPaneClick={() => onSelect(undefined)}
      aria-label="Agents and their messages"
    >
      <Background gap={20} size={1} color="var(--line-strong)" />
      <Fit nodes={graph.nodes} />
    </ReactFlow>
  );
}

/** Fits the whole graph into the view when nodes are added or the view is resized. */
function Fit({ nodes }: { nodes: readonly AgentNode[] }): ReactNode {
  const { setViewport } = useReactFlow();
  const size = useStore(({ width, height }) => `${width} ${height}`);
  const positions = nodes.map(({ x, y }) => `${x} ${y}`).join();
  useEffect(() => {
    const [width = 0, height = 0] = size.split(' ').map(Number);
    if (width === 0 || height === 0) return;
    const placed = positions.split(',').map((position) => {
      const [x = 0, y = 0] = position.split(' ').map(Number);
      return { x, y };
    });
    const bounds = { x: 0, y: 0, ...computeExtent(placed, nodeSize) };
    void setViewport(getViewportForBounds(bounds, width, height, 0.3, 1, 0.08));
  }, [positions, size, setViewport]);
  return null;
}

function AgentCard({ data: { agent, isBusy }, selected }: NodeProps<FlowNode>): ReactNode {
  const { activity } = agent;
  const getColor = useAgentColor();
  return (
    <div
      className="agent-card"
      data-state={activity?.state ?? 'unseen'}
      data-busy={isBusy || undefined}
      data-selected={selected || undefined}
      style={{ ['--agent' as string]: getColor(agent.name) }}
      title={agent.description}
    >
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <span className="name">
        {agent.name}
        {agent.isEntry && <i title="Receives the message of the user">first</i>}
      </span>
      <span className="facts">
        {activity ? (
          <>
            <span>{activity.state}</span>
            <span>{activity.events} events</span>
            {activity.outputTokens > 0 && <span>{activity.outputTokens} tokens</span>}
          </>
        ) : (
          <span>not seen yet</span>
        )}
      </span>
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
}

function Line({ id, data, markerEnd }: EdgeProps<FlowEdge>): ReactNode {
  if (!data) return null;
  const { edge, line, isBusy, isFaint } = data;
  const { path, labelX, labelY } = line;
  const count = (edge.activity?.messages ?? 0) + (edge.activity?.starts ?? 0);
  return (
    <g
      className="agent-edge"
      data-busy={isBusy || undefined}
      data-used={count > 0 || undefined}
      data-faint={isFaint || undefined}
    >
      <BaseEdge id={id} path={path} {...(markerEnd !== undefined && { markerEnd })} />
      {(count > 0 || edge.label !== undefined) && (
        <EdgeLabelRenderer>
          <span
            className="agent-edge-label"
            data-busy={isBusy || undefined}
            data-faint={isFaint || undefined}
            style={{ transform: `translate(-50%, -50%) translate(${labelX}px, ${labelY}px)` }}
            title={formatTitle(edge)}
          >
            {[edge.label, count > 0 ? count : undefined].filter((part) => part !== undefined).join(' · ')}
          </span>
        </EdgeLabelRenderer>
      )}
    </g>
  );
}

function formatTitle({ from, to, activity }: AgentEdge): string {
  const { messages = 0, starts = 0 } = activity ?? {};
  return `${from} to ${to}: ${messages} messages, ${starts} starts`;
}

const toBox = ({ x, y }: AgentNode): Box => ({ x, y, width: nodeSize.nodeWidth, height: nodeSize.nodeHeight });
