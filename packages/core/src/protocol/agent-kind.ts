import type { AgentSource } from '../event/agent-source.ts';
import { defined } from '../json/fields.ts';
import type { OnModelCall } from './model-call.ts';
import type { Probe } from './protocol.ts';

/** Receives every frame of a runtime before it is decoded. Events refer to it by index, as `origin`. */
export type OnFrame = (frame: unknown, index: number) => void;

/** Stops a run that no client reads any more. */
export type StopOnDisconnect = {
  /** Time in milliseconds without a reader after which the run is stopped. A reader that returns in time prevents it. */
  afterMs: number;
};

/** Rules of an agent for its clients. */
export type ClientRules = {
  /** Stops a run when its last reader has left for `afterMs`. Default: a run continues without readers. */
  stopOnDisconnect?: StopOnDisconnect;
  /** Form of questions at the AG-UI endpoint: `langgraph` for clients that expect `on_interrupt`. Default: `outcome`. */
  interrupts?: 'outcome' | 'langgraph';
};

/** Options of every agent: descriptions for users, and rules for clients. */
export type AgentDetails = ClientRules & {
  description?: string;
  /** First messages that a page may suggest. */
  suggestions?: readonly string[];
};

/** Agent of a server's configuration, created by the function of an `AgentKind`. */
export type AgentDefinition = AgentDetails & {
  /** Name of its kind. */
  readonly kind: string;
  /** Name of the dialect of its frames. */
  readonly dialect: string;
  /** Whether it is a scripted demo that needs no API key. */
  readonly isDemo?: true;
  /** Whether the source reports its model calls. Otherwise a recording shows the input of the run instead. */
  readonly reportsModelCalls?: true;
  /** Creates the source. With `onFrame` or `onModelCall` the source serves one run, which is recorded. */
  createSource(name: string, onFrame?: OnFrame, onModelCall?: OnModelCall): AgentSource;
  /** Checks the agent without starting a run, for example with a request to its server. Rejects if that cannot be reached. */
  probe?(signal: AbortSignal): Promise<Probe>;
};

/** Agents of a configuration by name. */
export type AgentDefinitions = { readonly [name: string]: AgentDefinition };

/** Environment variables of a process. */
export type Environment = { readonly [name: string]: string | undefined };

/** Runtime that a server can run agents of: how they are configured, found in the environment, checked and shown. */
export interface AgentKind<Args extends readonly unknown[] = readonly unknown[]> {
  readonly name: string;
  /** Name for menus. */
  readonly title: string;
  /** Description of an agent that has none of its own, as a noun phrase. */
  readonly description: string;
  /** Name under which the server exports `define`. */
  readonly functionName: string;
  /** Defines an agent of a configuration. */
  define(...args: Args): AgentDefinition;
  /** Agents for servers without a configuration. */
  readonly environment?: AgentEnvironment;
  /** First agent of a new project. */
  readonly template?: AgentTemplate;
  /** Starts scripted agents that need no API key and send nothing to other machines. */
  startDemo?(host: DemoHost): Promise<DemoAgents>;
}

/** Environment variables that add agents to a server without a configuration. */
export interface AgentEnvironment {
  /** Variables of which one is enough to add an agent. */
  readonly keys: readonly string[];
  /** Other variables to mention in help texts. */
  readonly settings?: readonly string[];
  /**
   * Returns undefined if none of the keys is set. `onMissing` receives the error of an agent whose optional package is not installed.
   */
  createAgents(env: Environment, onMissing?: (error: Error) => void): Promise<AgentDefinitions | undefined>;
  /** Checks the server that the variables name, without starting a run. Undefined if they name none. */
  probe?(env: Environment): Promise<Probe | undefined>;
}

/** Files of a new project with an agent of a kind. */
export interface AgentTemplate {
  /** Value of `init --with`. */
  readonly name: string;
  /** Text of `intertie.config.ts`. Its agent answers without an API key, for example with `demoModel()`. */
  readonly config: string;
  /** Imports of the configuration besides `intertie`. `version` is that of the server. */
  dependencies?(version: string): { readonly [name: string]: string };
  /** Environment variables that the configuration reads, for `.env.example` and `compose.yaml`. */
  readonly variables: ReadonlyArray<{ readonly name: string; readonly description: string }>;
  /** End of the project's README: what to try first, and what to change, in Markdown. */
  readonly readme: string;
}

/** Facilities of the server for demo agents. */
export type DemoHost = {
  /** Delay factor: 1 for the pace of a person who types, 0 for none. */
  pace: number;
  /** Creates a scripted source that any protocol can serve. */
  createSource: (name: string) => AgentSource;
  /** Serves a handler on a loopback port of its own. */
  listen: (handler: (request: Request) => Promise<Response>) => Promise<{ url: string; stop: () => Promise<void> }>;
};

export type DemoAgents = { agents: AgentDefinitions; stop?: () => Promise<void> };

/** Splits agent options into descriptions for users and settings of the source. */
export function splitDetails<Options extends AgentDetails>(
  options: Options,
): { details: AgentDetails; settings: Omit<Options, keyof AgentDetails> } {
  const { description, suggestions, stopOnDisconnect, interrupts, ...settings } = options;
  const details = { description, suggestions, stopOnDisconnect, interrupts };
  return { details: defined(details), settings };
}
