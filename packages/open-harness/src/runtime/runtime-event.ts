import type { RunSnapshot, RuntimeCommand } from './runtime.ts';

/** One invocation of a node. `runId` is the invocation's, and has nothing to do with the flow's. */
type NodeIds = { nodeId: string; runId: string };
type NodeText = NodeIds & { content: string };

type KnownEvent =
  | { type: 'flow:start'; flowName: string }
  | { type: 'flow:complete'; flowName: string; status: 'complete' | 'failed' }
  | { type: 'flow:paused' | 'flow:resumed' | 'flow:aborted' }
  | ({ type: 'node:start' } & NodeIds)
  | ({ type: 'node:complete'; output: unknown } & NodeIds)
  | ({ type: 'node:error'; error: string } & NodeIds)
  | { type: 'node:skipped'; nodeId: string; reason: 'edge' | 'when' }
  | { type: 'edge:fire'; edgeId?: string; from: string; to: string }
  | { type: 'loop:iterate'; edgeId?: string; iteration: number }
  | { type: 'state:patch'; patch: StatePatch }
  | { type: 'command:received'; command: RuntimeCommand }
  | ({ type: 'agent:start'; sessionId?: string; model?: string; prompt?: unknown } & NodeIds)
  | ({ type: 'agent:thinking:delta' | 'agent:thinking'; tokenCount?: number } & NodeText)
  | ({ type: 'agent:text:delta' | 'agent:text' } & NodeText)
  | ({
      type: 'agent:tool';
      toolName?: string;
      toolInput?: unknown;
      toolOutput?: unknown;
      durationMs?: number;
      error?: string;
    } & NodeIds)
  | ({ type: 'agent:error'; errorType: string; message: string; details?: unknown } & NodeIds)
  | ({
      type: 'agent:complete';
      result?: string;
      structuredOutput?: unknown;
      usage?: AgentUsage;
      modelUsage?: Record<string, { inputTokens?: number; outputTokens?: number }>;
      totalCostUsd?: number;
      durationMs?: number;
      numTurns?: number;
    } & NodeIds)
  | ({ type: 'agent:paused'; sessionId?: string; numTurns?: number } & NodeIds)
  | ({ type: 'agent:aborted'; reason?: string } & NodeIds)
  | { type: 'recording:linked'; [field: string]: unknown };

type AgentUsage = {
  inputTokens?: number;
  outputTokens?: number;
  cacheCreationInputTokens?: number;
  cacheReadInputTokens?: number;
};

/** Paths are dotted. */
export type StatePatch =
  | { op: 'set'; path: string; value: unknown }
  | { op: 'merge'; path: string; value: Record<string, unknown> };

/** What a graph runtime of either generation tells its listeners. */
export type RuntimeEvent = KnownEvent & { timestamp?: number };

/** What is not on the wire, and yet decides how a run ends. */
export type RuntimeSignal =
  /** The promise of `run()` or `resume()` is fulfilled. */
  | { type: 'settled'; snapshot?: RunSnapshot }
  /** A flow said that it was paused or aborted, and nothing has come for a while. */
  | { type: 'drained' }
  /** No node has got the message that was sent to a running flow, and the run is about to end. */
  | { type: 'undelivered' }
  /** The run is about to be stopped from outside. */
  | { type: 'stopping'; by?: 'user' | 'system'; reason?: string }
  /** Somebody has answered a flow that waits inside the process; the runtime is about to go on. */
  | { type: 'answered'; text: string };

/** What the decoder is fed. */
export type OpenHarnessInput = RuntimeEvent | RuntimeSignal;

/**
 * Whether the flow itself is over with this event, or rests. `agent:complete` is not among them: a flow has many agents; nor
 * are `agent:error` and `node:error`, after which flows go on. A runtime may also end without any such event: its promise
 * then says so.
 */
export function isTerminalEvent(event: { type: string }): boolean {
  return event.type === 'flow:complete' || event.type === 'flow:paused' || event.type === 'flow:aborted';
}
