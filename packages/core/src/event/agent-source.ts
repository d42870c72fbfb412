import type { AgentEvent } from './event.ts';
import type { Answer } from './part-body.ts';
import type { RunInput } from './run-input.ts';

export interface RunControl {
  signal: AbortSignal;
  /** Resolves when everything emitted so far is durable; rejects when a stop is requested. Awaited before a tool runs. */
  barrier(toolCallId?: string): Promise<void>;
  /** Answers that arrive while a run waits inside the process (`pauses: 'live'`). */
  liveAnswers: AsyncIterable<Answer>;
}

/** A runtime as a source of canonical events: an AI SDK model, a swarm, a flow, an AG-UI agent, a tape. */
export interface AgentSource {
  readonly name: string;
  /** How a paused run goes on: from history, by the runtime's token, or inside the process. */
  readonly pauses: 'replay' | 'token' | 'live';
  /** The stream never errors: it ends with `run-end`. */
  run(input: RunInput, control: RunControl): ReadableStream<AgentEvent>;
  describe?(): Promise<Topology>;
}

/** Agents or nodes, and who may talk to whom. */
export type Topology = {
  entry?: string;
  agents: Array<{ name: string; kind: 'agent' | 'node'; description?: string }>;
  edges: Array<{ from: string; to: string; label?: string }>;
};
