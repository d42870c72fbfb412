import type { StopOnDisconnect } from '@intertie/agent';
import type { AgentSource } from '@intertie/core';
import { override } from '@intertie/core/internal';

/** Runtime behind an agent, for display. */
export type AgentKind = 'model' | 'mail' | 'open-harness' | 'ag-ui' | 'chat-route' | 'tape' | 'source';

/** Receives every frame of a runtime before it is decoded. Events refer to it by index, as `origin`. */
export type OnFrame = (frame: unknown, index: number) => void;

/** Options that all agents have. */
export type AgentDetails = {
  description?: string;
  /** First messages that a page may suggest. */
  suggestions?: readonly string[];
  /** Stops a run when its last reader has left for `afterMs`. Default: a run continues without readers. */
  stopOnDisconnect?: StopOnDisconnect;
  /** Form of questions at the AG-UI endpoint: `langgraph` for clients that expect `on_interrupt`. Default: `outcome`. */
  interrupts?: 'outcome' | 'langgraph';
};

/** Agent of the configuration, created by `model`, `mailSwarm`, `openHarness`, `agUi`, `chatRoute` or `tape`. */
export type AgentDefinition = AgentDetails & {
  readonly kind: AgentKind;
  /** Name of the dialect of its frames. */
  readonly dialect: string;
  /** Whether it is a scripted demo that needs no API key. */
  readonly isDemo?: true;
  /** Creates the source. With `onFrame` the source serves one run, whose frames are recorded. */
  createSource(name: string, onFrame?: OnFrame): AgentSource;
};

export function isAgentDefinition(value: unknown): value is AgentDefinition {
  return typeof value === 'object' && value !== null && typeof (value as AgentDefinition).createSource === 'function';
}

export function isAgentSource(value: unknown): value is AgentSource {
  return typeof value === 'object' && value !== null && typeof (value as AgentSource).run === 'function';
}

/** Wraps a custom source. The dialect of its frames is unknown. */
export function sourceDefinition(source: AgentSource): AgentDefinition {
  return { kind: 'source', dialect: 'source', createSource: (name) => override(source, { name }) };
}
