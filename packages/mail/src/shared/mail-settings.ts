import { InvalidArgumentError, type JSONValue } from '@ai-sdk/provider';
import type { MAILAgentEvent, MAILPlainEvent } from './agent-event.ts';
import { fieldsOf, nameOf } from './fields.ts';
import { isResumeToken, readResumeToken, type MAILResumeToken } from './resume-token.ts';

/** What a provider knows of its servers. */
export interface MAILProviderSettings {
  /** Where the server is. Default: `MAIL_BASE_URL`, then http://localhost:8000. */
  baseUrl?: string | undefined;
  /** The same, as other providers spell it. */
  baseURL?: string;
  /** Sent as a bearer token. Default: `MAIL_API_KEY`. Without one, the debug-only `/ui/message` is used. */
  authToken?: string | undefined;
  /** The same, as other providers spell it. */
  apiKey?: string;
  headers?: MAILHeaders | (() => MAILHeaders | Promise<MAILHeaders>);
  /**
   * Shows messages between agents as text (`true`) or as reasoning, each as a part `[agent]: text` with a line break.
   * Default: false.
   */
  includeAgentChatter?: boolean | 'reasoning';
  /** Other servers, by the id of the model that means them. A server hosts one swarm. */
  swarms?: { readonly [modelId: string]: string };
  fetch?: typeof globalThis.fetch;
  /** Makes the ids of tasks and runs. */
  generateId?: () => string;
  /** Every event of the server, as it arrives. */
  onEvent?: (event: MAILAgentEvent | MAILPlainEvent) => void;
  /** A task is about to be started or continued: the id to keep if the program may not live to see its end. */
  onTask?: (task: { taskId: string; isNew: boolean }) => void;
}
export type MAILHeaders = { readonly [name: string]: string | undefined };

export type MAILResumeFrom = 'user_response' | 'breakpoint_tool_call';
/** `actions`: the swarm's own actions and breakpoint tools. `all`: every tool that an agent calls. */
export type MAILToolCalls = 'actions' | 'all';

/** Settings of a model. A call can override them in `providerOptions.mail`. Invalid values are an `InvalidArgumentError`. */
export interface MAILModelSettings {
  /** The name that the server is expected to have. Default: the model's id. */
  swarm?: string;
  /** The agent that gets the message. Default: the swarm's own entrypoint. */
  entrypoint?: string;
  /** The entrypoint finishes the task itself, without its supervisor. Refused if it cannot. */
  bypassSupervisor?: boolean;
  /**
   * The task to continue: its id, or the `resumeToken` of a paused one. Default: the task of the last answer in the prompt.
   * `undefined`, `null` and an empty text mean none.
   */
  taskId?: JSONValue | undefined;
  /**
   * How the task continues: with a new message of the user, or with the result of a breakpoint tool. A `resumeToken` names
   * the task too. Default: by what the prompt ends with.
   */
  resumeFrom?: MAILResumeFrom | MAILResumeToken | undefined;
  /** Subject of the message to the swarm. Default: `New Message`. */
  subject?: string;
  /**
   * Names of the swarm's breakpoint tools, which no endpoint reports. A tool of a call that is neither listed nor called in
   * the conversation is a warning.
   */
  breakpointTools?: readonly string[];
  /** `all`: also shows the calls of MAIL's own tools, such as `send_request`. Default: `actions`. */
  toolCalls?: MAILToolCalls;
  /** How many steps the swarm may take before it must finish. Needs a token. */
  maxSteps?: number;
  /** Whether the metadata holds every event. Default: no. */
  includeEvents?: boolean;
  /** How long nothing at all may arrive, in milliseconds. The server pings every 15 s. Default: 60 s. */
  silenceMs?: number;
  /** How long nothing may happen, in milliseconds. A ping is nothing. Default: 15 min. */
  progressMs?: number;
  /** Whether a task is read to its end after the connection was lost. Default: yes. */
  reattach?: boolean;
}

export const defaultBaseUrl = 'http://localhost:8000';
export const defaultSilenceMs = 60_000;
export const defaultProgressMs: number = 15 * 60_000;

/** Reads the settings of a model or a call. Throws an `InvalidArgumentError` for one that no server could act on. */
export function readSettings(given: unknown): MAILModelSettings {
  const settings = fieldsOf(given);
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

/** The settings of one call, from its `providerOptions`. */
export function readCallSettings(providerOptions: unknown): MAILModelSettings {
  return readSettings(fieldsOf(providerOptions).mail);
}

type Shape = { isValid: (value: unknown) => boolean; expected: string };
const isName = (value: unknown): boolean => nameOf(value) !== undefined;
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

/** A variable of the environment, where there is one. */
export function readEnvironment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: { [name: string]: string | undefined } } };
  return nameOf(process?.env?.[name]);
}
