import type { RuntimeEvent } from './runtime-event.ts';

/*
 * Declared here because no package publishes these types. They contain only what we rely on, so that the real runtimes and
 * small custom ones are assignable.
 */

export type RuntimeStatus = 'idle' | 'running' | 'paused' | 'aborted' | 'complete';

/** Command to a runtime. First generation: `send` to `resume`. Second generation: `pause`, `resume` and `stop`. */
export type RuntimeCommand =
  | { type: 'send'; message: string; runId: string }
  | { type: 'reply'; promptId: string; content: string; runId: string }
  | { type: 'abort'; resumable?: boolean; reason?: string }
  | { type: 'resume'; message?: string }
  | { type: 'pause' }
  | { type: 'stop' };

/** State of a flow. `runId` is the id of the flow's run, which no event contains. */
export interface RunSnapshot {
  runId?: string;
  status: RuntimeStatus;
  outputs?: Record<string, unknown>;
  state?: Record<string, unknown>;
  nodeStatus?: Record<string, string>;
  edgeStatus?: Record<string, string>;
  loopCounters?: Record<string, number>;
  inbox?: unknown[];
  agentSessions?: Record<string, string>;
}

/** Graph runtime of either generation. It runs once, but can be paused and resumed. */
export interface RuntimeLike {
  /** Starts the flow. In the first generation it also continues a paused one. */
  run(input?: Record<string, unknown>): Promise<RunSnapshot>;
  onEvent(listener: (event: RuntimeEvent) => void): () => void;
  getSnapshot(): RunSnapshot;
  /** First generation. */
  dispatch?(command: RuntimeCommand): void;
  /** Second generation. */
  pause?(): void;
  resume?(message?: string): Promise<RunSnapshot>;
  stop?(): void;
  /** Definition of the flow, if the runtime exposes it. */
  readonly flow?: FlowLike;
}

/** The part of a flow's definition that is needed to draw it. */
export interface FlowLike {
  readonly name: string;
  readonly nodes: ReadonlyArray<{ readonly id: string; readonly type?: string; readonly description?: string }>;
  readonly edges: ReadonlyArray<{ readonly from: string; readonly to: string; readonly when?: unknown }>;
}

/** Event store of a runtime. `afterSeq` is a number of events. */
export interface RunStoreLike {
  loadEvents(runId: string, afterSeq?: number): readonly RuntimeEvent[] | Promise<readonly RuntimeEvent[]>;
  loadSnapshot?(runId: string): RunSnapshot | null | Promise<RunSnapshot | null>;
}
