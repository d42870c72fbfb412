import type { OnLoss } from '@intertie/core';

/** Output of a node, as passed to `nodeText`. */
export type NodeOutput = { nodeId: string; runId: string; output: unknown };

export interface OpenHarnessDecoderOptions {
  /** Names of statically typed tools. All others are dynamic. */
  tools?: readonly string[];
  /**
   * Converts the output of a node without text to text, for flows without agents. `true`: the output if it is a string, or
   * its `text`. Default: false.
   */
  nodeText?: boolean | ((node: NodeOutput) => string | undefined);
  /** `live`: a pause is a question inside the run. Default: `token`, a pause ends the run. */
  pauses?: 'token' | 'live';
  onLoss?: OnLoss;
}
