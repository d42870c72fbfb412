import type { RuntimeEvent } from './runtime-event.ts';

/*
 * No installable package has these types, so they are written down here, after the runtimes themselves. They say what we
 * rely on and no more: the real runtimes fit, and so does a small one of your own.
 */

export type RuntimeStatus = 'idle' | 'running' | 'paused' | 'aborted' | 'complete';

/** What a runtime takes: the first generation `send` to `resume`, the second `pause`, `resume` and `stop`. */
export type RuntimeCommand =
  | { type: 'send'; message: string; runId: string }
  | { type: 'reply'; promptId: string; content: string; runId: string }
  | { type: 'abort'; resumable?: boolean; reason?: string }
  | { type: 'resume'; message?: string }
  | { type: 'pause' }
  | { type: 'stop' };

/** Where a flow stands. `runId` is the flow's own; no event carries it. */
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

/** A graph runtime of either generation. One runtime is one run: it can be paused and resumed, and not run again. */
export interface RuntimeLike {
  /** Starts the flow; in the first generation also goes on with a paused one. */
  run(input?: Record<string, unknown>): Promise<RunSnapshot>;
  onEvent(listener: (event: RuntimeEvent) => void): () => void;
  getSnapshot(): RunSnapshot;
  /** First generation. */
  dispatch?(command: RuntimeCommand): void;
  /** Second generation. */
  pause?(): void;
  resume?(message?: string): Promise<RunSnapshot>;
  stop?(): void;
  /** What it runs, where the runtime tells. */
  readonly flow?: FlowLike;
}

/** What of a flow's definition is needed to draw it. */
export interface FlowLike {
  readonly name: string;
  readonly nodes: ReadonlyArray<{ readonly id: string; readonly type?: string; readonly description?: string }>;
  readonly edges: ReadonlyArray<{ readonly from: string; readonly to: string; readonly when?: unknown }>;
}

/** Where the runtime keeps its events. `afterSeq` is a count of events. */
export interface RunStoreLike {
  loadEvents(runId: string, afterSeq?: number): readonly RuntimeEvent[] | Promise<readonly RuntimeEvent[]>;
  loadSnapshot?(runId: string): RunSnapshot | null | Promise<RunSnapshot | null>;
}
