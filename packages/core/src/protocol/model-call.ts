import type { Usage } from '../event/usage.ts';

/** Call of a language model, as its provider receives it. */
export type ModelCall = {
  provider: string;
  model: string;
  /** Messages of the call, including the system message. */
  prompt: readonly unknown[];
  tools: readonly unknown[];
  /** Other settings, for example `temperature`. */
  settings: { readonly [name: string]: unknown };
};

/** End of a model call. A call that was stopped has neither field. */
export type ModelCallEnd = { usage?: Usage; error?: string };

/** Receives every model call before it is sent. The returned function receives its end. */
export type OnModelCall = (call: ModelCall) => (end: ModelCallEnd) => void;
