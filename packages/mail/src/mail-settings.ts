import type { JSONValue } from '@ai-sdk/provider';
import type { MAILAgentEvent, MAILPlainEvent } from './agent-event.ts';
import { fieldsOf, nameOf } from './fields.ts';

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
  /** What agents say to each other: not at all (default), as text, or as reasoning. */
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

/** What a model is told once, or a call in `providerOptions.mail`. */
export interface MAILModelSettings {
  /** The name that the server is expected to have. Default: the model's id. */
  swarm?: string;
  /** The agent that gets the message. Default: the swarm's own entrypoint. */
  entrypoint?: string;
  /** The entrypoint finishes the task itself, without its supervisor. Refused if it cannot. */
  bypassSupervisor?: boolean;
  /** The task to go on with. Default: that of the last answer in the prompt. Anything but a text is ignored. */
  taskId?: JSONValue | undefined;
  resumeFrom?: MAILResumeFrom;
  subject?: string;
  /** The breakpoint tools of the swarm. They cannot be asked for; tools of a call that are not among them are warned of. */
  breakpointTools?: readonly string[];
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

/** The settings of one call, as far as they can be read. */
export function settingsOfCall(providerOptions: unknown): MAILModelSettings {
  const mail = fieldsOf(fieldsOf(providerOptions).mail);
  const read: { [key: string]: unknown } = {};
  for (const [key, isValid] of Object.entries(shapes)) if (isValid(mail[key])) read[key] = mail[key];
  return read;
}

const isName = (value: unknown): boolean => nameOf(value) !== undefined;
const isNumber = (value: unknown): boolean => typeof value === 'number' && value > 0;
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const shapes: { readonly [Key in keyof MAILModelSettings]-?: (value: unknown) => boolean } = {
  swarm: isName,
  entrypoint: isName,
  bypassSupervisor: isFlag,
  taskId: isName,
  resumeFrom: (value) => value === 'user_response' || value === 'breakpoint_tool_call',
  subject: isName,
  breakpointTools: (value) => Array.isArray(value) && value.every(isName),
  maxSteps: isNumber,
  includeEvents: isFlag,
  silenceMs: isNumber,
  progressMs: isNumber,
  reattach: isFlag,
};

/** A variable of the environment, where there is one. */
export function fromEnvironment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: { [name: string]: string | undefined } } };
  return nameOf(process?.env?.[name]);
}
