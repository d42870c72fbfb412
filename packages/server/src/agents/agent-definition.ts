import type { AgentSource } from '@intertie/core';

/** What an agent is made of, for whoever shows it. */
export type AgentKind = 'model' | 'mail' | 'open-harness' | 'ag-ui' | 'tape' | 'source';

/** Is given every frame of a runtime before it is decoded; events carry its index as `origin`. */
export type OnFrame = (frame: unknown, index: number) => void;

/** What people are told about an agent. All of it is optional. */
export type AgentDetails = {
  description?: string;
  /** Messages that a page may offer to begin with. */
  suggestions?: readonly string[];
};

/** An agent as the configuration has it: made by `model`, `mailSwarm`, `openHarness`, `agUi` or `tape`. */
export type AgentDefinition = AgentDetails & {
  readonly kind: AgentKind;
  /** The name of what the frames are written in. */
  readonly dialect: string;
  /** Scripted, to try things out: no key, no model. */
  readonly isDemo?: true;
  /** Makes the source. With `onFrame` it serves one run, whose frames are kept. */
  createSource(name: string, onFrame?: OnFrame): AgentSource;
};

export function isAgentDefinition(value: unknown): value is AgentDefinition {
  return typeof value === 'object' && value !== null && typeof (value as AgentDefinition).createSource === 'function';
}

export function isAgentSource(value: unknown): value is AgentSource {
  return typeof value === 'object' && value !== null && typeof (value as AgentSource).run === 'function';
}

/** A source of somebody's own. Its frames are unknown here. */
export function sourceDefinition(source: AgentSource): AgentDefinition {
  return { kind: 'source', dialect: 'source', createSource: (name) => named(source, name) };
}

function named(source: AgentSource, name: string): AgentSource {
  return {
    name,
    pauses: source.pauses,
    run: (input, control) => source.run(input, control),
    ...(source.describe && { describe: () => source.describe!() }),
  };
}
