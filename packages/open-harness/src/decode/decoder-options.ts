import type { OnLoss } from '@intertie/core';

/** What a node gave, for those who make words of it. */
export type NodeOutput = { nodeId: string; runId: string; output: unknown };

export interface OpenHarnessDecoderOptions {
  /** Names of tools that the page has types for. All others are dynamic. */
  tools?: readonly string[];
  /**
   * Makes text of the output of a node that has said nothing, for flows without agents. `true`: the output if it is a
   * string, or its `text`. Default: no.
   */
  nodeText?: boolean | ((node: NodeOutput) => string | undefined);
  /** `live`: a pause is a question inside the run. Default: `token`, a pause ends the run. */
  pauses?: 'token' | 'live';
  onLoss?: OnLoss;
}
