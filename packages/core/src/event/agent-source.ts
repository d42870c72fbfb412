import type { AgentEvent } from './event.ts';
import type { Answer } from './part-body.ts';
import type { RunInput } from './run-input.ts';

/** Controls one run from outside: stop, durability and live answers. */
export interface RunControl {
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
  /** The stream never errors: it ends with `run-end`. */
  run(input: RunInput, control: RunControl): ReadableStream<AgentEvent>;
  describe?(): Promise<Topology>;
}

/** Agents or nodes of a runtime, and the edges along which they send messages. */
export type Topology = {
  entry?: string;
  agents: Array<{ name: string; kind: 'agent' | 'node'; description?: string }>;
  edges: Array<{ from: string; to: string; label?: string }>;
};
