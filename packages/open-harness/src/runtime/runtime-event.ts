import type { RunSnapshot, RuntimeCommand } from './runtime.ts';

/** Ids of one invocation of a node. `runId` is that of the invocation, not of the flow. */
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

/** Change of the flow's state. Paths are dotted. */
export type StatePatch =
  | { op: 'set'; path: string; value: unknown }
  | { op: 'merge'; path: string; value: Record<string, unknown> };

/** Event that a graph runtime of either generation emits to its listeners. */
export type RuntimeEvent = KnownEvent & { timestamp?: number };

/** Input of the decoder that is not an event of the runtime but decides how a run ends. */
export type RuntimeSignal =
  /** The promise of `run()` or `resume()` was fulfilled. */
  | { type: 'settled'; snapshot?: RunSnapshot }
  /** The flow was paused or aborted, and no event has followed for `drainMs`. */
  | { type: 'drained' }
  /** No node has received the message that was sent to a running flow, and the run is about to end. */
  | { type: 'undelivered' }
  /** The run is about to be aborted by its caller. */
  | { type: 'stopping'; by?: 'user' | 'system'; reason?: string }
  /** A live pause was answered, and the runtime is about to resume. */
  | { type: 'answered'; text: string };

/** Input of the decoder. */
export type OpenHarnessInput = RuntimeEvent | RuntimeSignal;

/**
 * Whether the event ends or pauses the flow. `agent:complete` does not, since a flow has many agents; nor do `agent:error` and
 * `node:error`, after which a flow may continue. A runtime may also end without such an event, by its promise only.
 */
export function isTerminalEvent(event: { type: string }): boolean {
  return event.type === 'flow:complete' || event.type === 'flow:paused' || event.type === 'flow:aborted';
}
