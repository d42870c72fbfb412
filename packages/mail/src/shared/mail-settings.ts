import { InvalidArgumentError, type JSONValue } from '@ai-sdk/provider';
import type { MAILAgentEvent, MAILPlainEvent } from './agent-event.ts';
import { asFields, asNonEmptyText } from './fields.ts';
import { isResumeToken, readResumeToken, type MAILResumeToken } from './resume-token.ts';

/** Settings of a provider: how to reach its servers, and what to report. */
export interface MAILProviderSettings {
  /** URL of the server. Default: `MAIL_BASE_URL`, then http://localhost:8000. */
  baseUrl?: string | undefined;
  /** Alias of `baseUrl`, in the spelling of other providers. */
  baseURL?: string;
  /** Sent as a bearer token. Default: `MAIL_API_KEY`. Without one, the debug-only `/ui/message` is used. */
  authToken?: string | undefined;
  /** Alias of `authToken`, in the spelling of other providers. */
  apiKey?: string;
  headers?: MAILHeaders | (() => MAILHeaders | Promise<MAILHeaders>);
  /**
   * Shows messages between agents as text (`true`) or as reasoning, each as a part `[agent]: text` with a line break.
   * Default: false.
   */
  includeAgentChatter?: boolean | 'reasoning';
  /** URLs of other servers by model id. A server hosts one swarm. */
  swarms?: { readonly [modelId: string]: string };
  fetch?: typeof globalThis.fetch;
  /** Generates the ids of tasks and runs. */
  generateId?: () => string;
  /** Called with every event of the server except pings, as it arrives. */
  onEvent?: (event: MAILAgentEvent | MAILPlainEvent) => void;
  /** Called before a task is started or continued. Store the id if the process may exit before the task ends. */
  onTask?: (task: { taskId: string; isNew: boolean }) => void;
}
export type MAILHeaders = { readonly [name: string]: string | undefined };

export type MAILResumeFrom = 'user_response' | 'breakpoint_tool_call';
/** `actions`: the swarm's own actions and breakpoint tools. `all`: every tool that an agent calls. */
export type MAILToolCalls = 'actions' | 'all';

/** Settings of a model. A call can override them in `providerOptions.mail`. Invalid values throw an `InvalidArgumentError`. */
export interface MAILModelSettings {
  /** Expected name of the server's swarm. Default: the model's id. */
  swarm?: string;
  /** Agent that receives the message. Default: the swarm's entrypoint. */
  entrypoint?: string;
  /** Lets the entrypoint complete the task without its supervisor. Throws if the agent cannot complete tasks. */
  bypassSupervisor?: boolean;
  /**
   * Task to continue: its id, or the `resumeToken` of a paused task. Default: the task of the last answer in the prompt.
   * `undefined`, `null` and an empty string mean no task.
   */
  taskId?: JSONValue | undefined;
  /**
   * Continues the task with a new user message or with results of breakpoint tools. A `resumeToken` also names the task.
   * Default: derived from the end of the prompt.
   */
  resumeFrom?: MAILResumeFrom | MAILResumeToken | undefined;
  /** Subject of the message to the swarm. Default: `New Message`. */
  subject?: string;
  /**
   * Names of the swarm's breakpoint tools, which no endpoint reports. A tool of a call that is neither listed nor called in
   * the conversation causes a warning.
   */
  breakpointTools?: readonly string[];
  /** `all`: also shows the calls of MAIL's own tools, such as `send_request`. Default: `actions`. */
  toolCalls?: MAILToolCalls;
  /** Maximum number of steps of the swarm. Requires a token. */
  maxSteps?: number;
  /** Adds every event to the metadata. Default: false. */
  includeEvents?: boolean;
  /** Maximum time without any bytes, in milliseconds. The server pings every 15 s. Default: 60 s. */
  silenceMs?: number;
  /** Maximum time without an event other than pings, in milliseconds. Default: 15 min. */
  progressMs?: number;
  /** Reads the rest of a task from its record after the connection was lost. Default: true. */
  reattach?: boolean;
}

export const defaultBaseUrl = 'http://localhost:8000';
export const defaultSilenceMs = 60_000;
export const defaultProgressMs: number = 15 * 60_000;

/** Validates the settings of a model or a call. Throws an `InvalidArgumentError` for an invalid value. */
export function readSettings(given: unknown): MAILModelSettings {
  const settings = asFields(given);
  const read: { [key: string]: unknown } = {};
  for (const [argument, { isValid, expected }] of Object.entries(shapes)) {
    const value = settings[argument];
    if (value === undefined || value === null || (argument === 'taskId' && value === '')) continue;
    if (!isValid(value)) {
      const message = `The MAIL setting "${argument}" is ${JSON.stringify(value)}. Set it to ${expected}, or leave it out.`;
      throw new InvalidArgumentError({ argument, message });
    }
    read[argument] = value;
  }
  return read;
}

/** Reads the settings of one call from its `providerOptions`. */
export function readCallSettings(providerOptions: unknown): MAILModelSettings {
  return readSettings(asFields(providerOptions).mail);
}

type Shape = { isValid: (value: unknown) => boolean; expected: string };
const isName = (value: unknown): boolean => asNonEmptyText(value) !== undefined;
const isCompleteToken = (value: unknown): boolean => readResumeToken(value) !== undefined;
const text: Shape = { isValid: isName, expected: 'a non-empty text' };
const duration: Shape = { isValid: (value) => typeof value === 'number' && value > 0, expected: 'a positive number' };
const flag: Shape = { isValid: (value) => typeof value === 'boolean', expected: 'true or false' };
const shapes: { readonly [Key in keyof MAILModelSettings]-?: Shape } = {
  swarm: text,
  entrypoint: text,
  bypassSupervisor: flag,
  taskId: {
    isValid: (value) => isName(value) && (!isResumeToken(value) || isCompleteToken(value)),
    expected: 'the id of a task or a resumeToken',
  },
  resumeFrom: {
    isValid: (value) => value === 'user_response' || value === 'breakpoint_tool_call' || isCompleteToken(value),
    expected: '"user_response", "breakpoint_tool_call" or a resumeToken',
  },
  subject: text,
  breakpointTools: {
    isValid: (value) => Array.isArray(value) && value.every(isName),
    expected: 'a list of tool names',
  },
  toolCalls: { isValid: (value) => value === 'actions' || value === 'all', expected: '"actions" or "all"' },
  maxSteps: {
    isValid: (value) => Number.isInteger(value) && (value as number) > 0,
    expected: 'a positive whole number',
  },
  includeEvents: flag,
  silenceMs: duration,
  progressMs: duration,
  reattach: flag,
};

/** Reads an environment variable. Returns undefined in runtimes without `process.env`. */
export function readEnvironment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: { [name: string]: string | undefined } } };
  return asNonEmptyText(process?.env?.[name]);
}
