import type { LanguageModel } from 'ai';
import type { FlowLike } from '../runtime/runtime.ts';

/** What a node works with. */
export interface NodeContext {
  /** What the flow was run with. */
  readonly input: Readonly<Record<string, unknown>>;
  /** What the nodes before it gave, by their ids. */
  readonly outputs: Readonly<Record<string, unknown>>;
  /** What the flow was resumed with, if this node is the one that had paused it. */
  readonly answer: string | undefined;
  readonly signal: AbortSignal;
  /** Says a block of text, word by word, at the runtime's pace. */
  say(text: string): Promise<void>;
  think(text: string): Promise<void>;
  /** Uses a tool. What it throws is told and thrown on. */
  tool<Output>(name: string, input: unknown, execute: () => Output | Promise<Output>): Promise<Output>;
  /** A field of the flow's state; the path is dotted. */
  set(path: string, value: unknown): void;
  /** Rests the flow. The node is run again, with `answer`, when somebody resumes it. */
  pause(): never;
}

/** A node by a function, or by any model of the AI SDK. */
export type FlowNode = { id: string; description?: string } & (
  | { run: (context: NodeContext) => unknown }
  | { model: LanguageModel; prompt: (context: NodeContext) => string }
);

/** Without a condition, an edge fires when its node is done. `label` is for those who draw it. */
export type FlowEdge = { from: string; to: string; label?: string; if?: (context: EdgeContext) => boolean };
export type EdgeContext = Pick<NodeContext, 'input' | 'outputs'>;

/** A flow as an object. */
export interface Flow extends FlowLike {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
}
