import type { LanguageModel } from 'ai';
import type { FlowLike } from '../runtime/runtime.ts';

/** Context of one node invocation. */
export interface NodeContext {
  /** Input of the flow. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Outputs of the preceding nodes by id. */
  readonly outputs: Readonly<Record<string, unknown>>;
  /** Message with which the flow was resumed. Only set for the node that paused it. */
  readonly answer: string | undefined;
  readonly signal: AbortSignal;
  /** Streams a block of text in small deltas at the runtime's pace. */
  say(text: string): Promise<void>;
  think(text: string): Promise<void>;
  /** Executes a tool. Emits and rethrows its error. */
  tool<Output>(name: string, input: unknown, execute: () => Output | Promise<Output>): Promise<Output>;
  /** Sets a field of the flow's state. The path is dotted. */
  set(path: string, value: unknown): void;
  /** Pauses the flow. A resumed flow runs the node again with `answer`. */
  pause(): never;
}

/** Node defined by a function or by an AI SDK model. */
export type FlowNode = { id: string; description?: string } & (
  | { run: (context: NodeContext) => unknown }
  | { model: LanguageModel; prompt: (context: NodeContext) => string }
);

/** Edge between nodes. Without `if` it fires when its node is done. `label` is only displayed. */
export type FlowEdge = { from: string; to: string; label?: string; if?: (context: EdgeContext) => boolean };
export type EdgeContext = Pick<NodeContext, 'input' | 'outputs'>;

/** Flow defined as an object. */
export interface Flow extends FlowLike {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
}
