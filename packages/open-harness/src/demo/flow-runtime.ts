import { generateId as mintId, toFault } from '@intertie/core';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';
import type { RunSnapshot, RuntimeLike, RuntimeStatus } from '../runtime/runtime.ts';
import type { Flow, FlowEdge, FlowNode } from './flow.ts';
import { Halt, runNode } from './node-run.ts';

export interface FlowRuntimeOptions {
  flow: Flow;
  /** Paused run to continue: `turn.resume` of the factory. */
  resume?: { snapshot: RunSnapshot };
  /** Delay before each delta in milliseconds. Default: 15. */
  pace?: number;
  generateId?: () => string;
  now?: () => number;
}

const defaultPace = 15;

/**
 * Creates a small runtime with the interface of the second generation, for demos, tests and flows defined as objects. Nodes
 * whose edges have fired run in parallel.
 */
export function createFlowRuntime(options: FlowRuntimeOptions): FlowRuntime {
  return new FlowRuntime(options);
}

export class FlowRuntime implements RuntimeLike {
  readonly flow: Flow;
  #options: Required<Pick<FlowRuntimeOptions, 'pace' | 'generateId' | 'now'>>;
  #listeners = new Set<(event: RuntimeEvent) => void>();
  #runId: string;
  #status: RuntimeStatus = 'idle';
  #input: Record<string, unknown> = {};
  #outputs: Record<string, unknown> = {};
  #nodes: Record<string, 'pending' | 'running' | 'done' | 'failed' | 'skipped'> = {};
  #edges: Record<string, 'pending' | 'fired' | 'skipped'> = {};
  #stop = new AbortController();

  constructor({ flow, resume, pace = defaultPace, generateId = mintId, now = Date.now }: FlowRuntimeOptions) {
    this.flow = flow;
    this.#options = { pace, generateId, now };
    const { runId, status, state, outputs, nodeStatus, edgeStatus } = resume?.snapshot ?? {};
    this.#runId = runId ?? generateId();
    if (status === 'paused') this.#status = status;
    this.#input = { ...(state?.input as object | undefined) };
    this.#outputs = { ...outputs };
    for (const { id } of flow.nodes) this.#nodes[id] = (nodeStatus?.[id] ?? 'pending') as 'pending';
    for (const edge of flow.edges)
      this.#edges[toEdgeKey(edge)] = (edgeStatus?.[toEdgeKey(edge)] ?? 'pending') as 'pending';
  }

  async run(input: Record<string, unknown> = {}): Promise<RunSnapshot> {
    if (this.#status !== 'idle') throw new Error(`The run ${this.#runId} is ${this.#status}; a runtime runs once.`);
    this.#input = input;
    this.#status = 'running';
    this.#emit({ type: 'flow:start', flowName: this.flow.name });
    return this.#runReadyNodes(undefined);
  }

  async resume(message?: string): Promise<RunSnapshot> {
    if (this.#status !== 'paused') throw new Error(`The run ${this.#runId} is ${this.#status}, not paused.`);
    this.#status = 'running';
    this.#stop = new AbortController();
    this.#emit({ type: 'flow:resumed' });
    return this.#runReadyNodes(message ?? 'continue');
  }

  pause(): void {
    this.#halt('pause');
  }

  stop(): void {
    this.#halt('stop');
  }

  onEvent(listener: (event: RuntimeEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  getSnapshot(): RunSnapshot {
    return {
      runId: this.#runId,
      status: this.#status,
      outputs: { ...this.#outputs },
      state: { input: this.#input },
      nodeStatus: { ...this.#nodes },
      edgeStatus: { ...this.#edges },
    };
  }

  async #runReadyNodes(answer: string | undefined): Promise<RunSnapshot> {
    // Continue the paused nodes first, then the nodes that became ready.
    let ready = this.flow.nodes.filter(({ id }) => this.#nodes[id] === 'running');
    if (ready.length === 0) ready = this.#findReadyNodes();
    let given = answer;
    while (ready.length > 0) {
      const message = given;
      given = undefined;
      const ends = await Promise.all(ready.map((node) => this.#runOne(node, message)));
      const halt = ends.find((end) => end instanceof Halt);
      if (halt !== undefined) return this.#finishHalted(halt.how);
      if (ends.includes('failed')) return this.#finish('failed');
      ready = this.#findReadyNodes();
    }
    return this.#finish('complete');
  }

  async #runOne(node: FlowNode, answer: string | undefined): Promise<'done' | 'failed' | Halt> {
    const runId = this.#options.generateId();
    const ids = { nodeId: node.id, runId };
    this.#nodes[node.id] = 'running';
    this.#emit({ type: 'node:start', ...ids });
    try {
      const output = await runNode({
        node,
        runId,
        input: this.#input,
        outputs: this.#outputs,
        answer,
        signal: this.#stop.signal,
        pace: this.#options.pace,
        emit: this.#emit,
      });
      this.#nodes[node.id] = 'done';
      this.#outputs[node.id] = output ?? null;
      this.#emit({ type: 'node:complete', ...ids, output: output ?? null });
      this.#fireEdges(node.id);
      return 'done';
    } catch (error) {
      if (error instanceof Halt) {
        this.#emitHalt(error.how);
        this.#emit({ type: error.how === 'pause' ? 'agent:paused' : 'agent:aborted', ...ids });
        return error;
      }
      this.#nodes[node.id] = 'failed';
      this.#emit({ type: 'node:error', ...ids, error: toFault(error).message });
      return 'failed';
    }
  }

  #fireEdges(id: string): void {
    for (const edge of this.flow.edges) {
      if (edge.from !== id) continue;
      const fires = edge.if?.({ input: this.#input, outputs: this.#outputs }) ?? true;
      this.#edges[toEdgeKey(edge)] = fires ? 'fired' : 'skipped';
      if (fires) this.#emit({ type: 'edge:fire', edgeId: toEdgeKey(edge), from: edge.from, to: edge.to });
    }
  }

  /** Returns the nodes without pending predecessors. Skips nodes whose edges were all skipped, transitively. */
  #findReadyNodes(): FlowNode[] {
    for (;;) {
      const open = this.flow.nodes.filter(({ id }) => this.#nodes[id] === 'pending');
      const states = (id: string): string[] =>
        this.flow.edges.filter(({ to }) => to === id).map((edge) => this.#edges[toEdgeKey(edge)] as string);
      const skipped = open.find(({ id }) => states(id).length > 0 && states(id).every((state) => state === 'skipped'));
      if (skipped === undefined) return open.filter(({ id }) => !states(id).includes('pending'));
      this.#nodes[skipped.id] = 'skipped';
      this.#emit({ type: 'node:skipped', nodeId: skipped.id, reason: 'edge' });
      for (const edge of this.flow.edges) if (edge.from === skipped.id) this.#edges[toEdgeKey(edge)] = 'skipped';
    }
  }

  #halt(how: 'pause' | 'stop'): void {
    if (this.#status === 'paused' && how === 'stop') this.#status = 'aborted';
    if (this.#status !== 'running') return;
    this.#emitHalt(how);
    this.#stop.abort(new Halt(how));
  }

  /** Emits the event of the flow once, before those of its agents. */
  #emitHalt(how: 'pause' | 'stop'): void {
    if (this.#status !== 'running') return;
    this.#status = how === 'pause' ? 'paused' : 'aborted';
    this.#emit({ type: how === 'pause' ? 'flow:paused' : 'flow:aborted' });
  }

  #finishHalted(how: 'pause' | 'stop'): RunSnapshot {
    this.#emitHalt(how);
    return this.getSnapshot();
  }

  #finish(status: 'complete' | 'failed'): RunSnapshot {
    this.#status = 'complete';
    this.#emit({ type: 'flow:complete', flowName: this.flow.name, status });
    return this.getSnapshot();
  }

  #emit = (event: RuntimeEvent): void => {
    const timed = { ...event, timestamp: this.#options.now() };
    for (const listener of this.#listeners) listener(timed);
  };
}

function toEdgeKey({ from, to }: FlowEdge): string {
  return `${from}->${to}`;
}
