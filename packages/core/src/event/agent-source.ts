import type { AgentEvent } from './event.ts';
import type { Json } from '../json/json.ts';
import type { CanonicalMessage } from './message.ts';
import type { Answer } from './part-body.ts';
import type { RunInput } from './run-input.ts';

/** Controls one run from outside: stop, durability and live answers. */
export interface RunControl {
  /** Aborted with a `StopReason`. The reason `hand-over` means that another process continues the run: a remote task is not cancelled. */
  signal: AbortSignal;
  /** Resolves when all emitted events are durable; rejects when a stop is requested. Awaited before a tool runs. */
  barrier(toolCallId?: string): Promise<void>;
  /** Answers that arrive while the run waits in this process (`pauses: 'live'`). */
  liveAnswers: AsyncIterable<Answer>;
}

/** Runtime that produces canonical events: an AI SDK model, a swarm, a flow, an AG-UI agent, a tape. */
export interface AgentSource {
  readonly name: string;
  /** How a paused run continues: from the history, with the runtime's token, or inside the process. */
  readonly pauses: 'replay' | 'token' | 'live';
  /** Whether tools run in this process. At shutdown, a step with tool calls is completed before its run is handed over. */
  readonly executesTools?: boolean;
  /** The stream never errors: it ends with `run-end`. */
  run(input: RunInput, control: RunControl): ReadableStream<AgentEvent>;
  /**
   * Continues a run whose process has died or shut down. Absent: such a run ends as `error: lost`. The stream contains neither
   * `run-start` nor a baseline, and continues after `from.events`: it may extend the open parts or close them, and discards an
   * incomplete step with `step-end { discarded: true }`. If the run cannot be continued, it ends with an error of code `lost` that
   * gives the reason. Seal it with `seal(input, onLoss, { log: from.events })`, or return unsealed events.
   */
  resume?(input: RunInput, from: ResumePoint, control: RunControl): ReadableStream<AgentEvent>;
  /**
   * Whether `resume` is sure to continue a run whose last checkpoint has this token. At shutdown, other runs get the time to end that
   * runs without `resume` get, instead of being handed over. Absent: every run can continue.
   */
  canResume?(token: Json | undefined): boolean;
  describe?(): Promise<Topology>;
}

/** Part, step or agent that is open at a resume point. */
export type OpenItem = { kind: 'text' | 'reasoning' | 'tool-input' | 'step' | 'agent'; id: string };

/** State of a run at its last committed event. Later events of the dead process were never delivered. */
export interface ResumePoint {
  /** All committed events of the run, from `run-start`. Empty if the process died before its first commit. */
  events: readonly AgentEvent[];
  /** The message folded from the baseline and `events`. Files are resolved as in `RunInput`. */
  message: CanonicalMessage;
  /** Parts, steps and agents that are open, in the order of their start. */
  open: readonly OpenItem[];
  /** Token of the last `checkpoint`. */
  token?: Json;
}

/** Agents or nodes of a runtime, and the edges along which they send messages. */
export type Topology = {
  entry?: string;
  agents: Array<{ name: string; kind: 'agent' | 'node'; description?: string }>;
  edges: Array<{ from: string; to: string; label?: string }>;
};
