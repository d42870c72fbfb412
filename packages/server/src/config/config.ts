import type { HistoryOptions } from '@intertie/agent';
import type { AgentDefinition, AgentSource, Store } from '@intertie/core';
import { isFields } from '@intertie/core/internal';
import { defaultRequestLimits, type RequestLimits } from '@intertie/core/http';
import type { LogDefinition } from '@intertie/core/store';
import type { CreateStoreOptions } from '@intertie/postgres';
import { didYouMean } from '../cli/nearest.ts';
import { createClientReader, type TrustProxy } from '../net/client-address.ts';
import { agentKinds } from '../agent-kinds.ts';
import { isAgentDefinition, isAgentSource } from '../agents/agent-definition.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import type { Prices } from './prices.ts';
import { joinNames } from './join-names.ts';

/** User or program that sends a request. */
export type Principal = {
  /** Scope of everything that the principal can read and change. */
  id: string;
  name?: string;
  /** Whether the principal may read `/metrics`, which covers all principals. Default: false. */
  operator?: boolean;
};

/** Limits per process. */
export type Limits = RequestLimits & {
  /** Maximum sustained number of requests per second and client. Default: 200. */
  requestsPerSecond: number;
  /** Maximum number of open streams, per client and in total. Default: 500 and 5000. */
  streams: { perClient: number; total: number };
  /** Maximum number of runs that this process executes at once. More are refused with 503 (`overloaded`). Default: 2000. */
  runs: number;
  /**
   * Maximum mean delay of the event loop, in milliseconds. New runs are refused with 503 (`overloaded`) after two seconds in
   * a row above it. Default: 500.
   */
  eventLoopDelayMs: number;
};

/** Configuration of a server, usually the default export of `intertie.config.ts`. */
export type IntertieConfig = {
  /** Agents by name, which is part of their URLs. A custom `AgentSource` works too. */
  agents: { readonly [name: string]: AgentDefinition | AgentSource };
  /** Agent of `/api/chat`. Default: the first. */
  defaultAgent?: string;
  /** `postgres://…`, a folder for an embedded database, options for `createStore`, or a store. Default: `DATABASE_URL`, else `./.intertie`. */
  database?: string | CreateStoreOptions | Store | undefined;
  /** Place of the events of live runs, for example `nats({ servers })` of `@intertie/nats`. Default: the database. */
  log?: LogDefinition;
  /**
   * Maximum database outage, in milliseconds, that readers, runs being prepared and runs that ask a question wait for. Then
   * they end with code `database-away`. Default: 5 minutes.
   */
  maxOutageMs?: number;
  /** Limits the part of a thread that agents receive. Default: the newest 200 messages of the branch. */
  history?: HistoryOptions;
  /**
   * Identifies the sender of a request; null means 401. Without `auth` and `token`, the server accepts requests from this
   * machine only. `fetch` of `createIntertie` cannot see the sender's address, so in production it then refuses every request.
   */
  auth?: (request: Request) => Principal | null | Promise<Principal | null>;
  /** Shared secret for all clients. Default: `INTERTIE_TOKEN`. */
  token?: string | undefined;
  /** Additional host names that the server accepts. */
  hosts?: readonly string[];
  /** Origins whose pages may use the server, or `*` for all. Default: its own origin. */
  cors?: readonly string[] | '*';
  /**
   * Reverse proxies whose `X-Forwarded-*` or `Forwarded` headers are trusted: the number of proxies in front of the server, or
   * their addresses and CIDR ranges. Default: `INTERTIE_TRUST_PROXY`, else none.
   */
  trustProxy?: TrustProxy | undefined;
  limits?: Partial<Limits>;
  /**
   * Whether the server keeps in memory what the latest runs sent to models, for operators who open the console. Default: on
   * loopback only.
   */
  recordPrompts?: boolean;
  /** Prices of models, from which the console computes the cost of each model call. */
  prices?: Prices;
  /** Address and port of `intertie serve`. Default: 127.0.0.1 and 4111. */
  host?: string;
  port?: number;
};

/** Types and checks the configuration of `intertie.config.ts`, and returns it unchanged. */
export function defineConfig(config: IntertieConfig): IntertieConfig {
  checkConfig(config);
  return config;
}

const known: readonly (keyof IntertieConfig)[] = [
  'agents',
  'defaultAgent',
  'database',
  'log',
  'maxOutageMs',
  'history',
  'auth',
  'token',
  'hosts',
  'cors',
  'trustProxy',
  'limits',
  'recordPrompts',
  'prices',
  'host',
  'port',
];

const name = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Throws `bad-config`. The message names the field, its value and the expected value. */
export function checkConfig(config: unknown): asserts config is IntertieConfig {
  if (!isFields(config))
    return wrong(`The configuration is ${show(config)}; it should be the result of defineConfig({ agents }).`);
  for (const key of Object.keys(config)) {
    if ((known as readonly string[]).includes(key)) continue;
    wrong(`The configuration has no field "${key}".${didYouMean(key, known)} Its fields are ${known.join(', ')}.`);
  }
  const { agents, defaultAgent, database, log, maxOutageMs, history, auth, token, hosts, cors } = config;
  const { trustProxy, limits, recordPrompts, prices, host, port } = config;
  if (!isFields(agents) || Object.keys(agents).length === 0) {
    return wrong(`agents is ${show(agents)}; it should have at least one agent, for example { helper: model(…) }.`);
  }
  for (const [key, agent] of Object.entries(agents)) {
    if (!name.test(key))
      wrong(`The agent name "${key}" is invalid: use up to 64 letters, digits, dots, dashes and underscores.`);
    if (!isAgentDefinition(agent) && !isAgentSource(agent)) {
      const functions = agentKinds.map(({ functionName }) => `${functionName}(…)`);
      wrong(`agents.${key} is ${show(agent)}; create it with ${joinNames(functions)}.`);
    }
    checkAgentOptions(key, agent as AgentDefinition);
  }
  if (defaultAgent !== undefined && !(typeof defaultAgent === 'string' && Object.hasOwn(agents, defaultAgent))) {
    wrong(`defaultAgent is ${show(defaultAgent)}; the agents are ${Object.keys(agents).join(', ')}.`);
  }
  if (database !== undefined && typeof database !== 'string' && !isFields(database)) {
    wrong(`database is ${show(database)}; it should be postgres://…, a folder, or options for createStore.`);
  }
  if (database === '') wrong('database is empty; omit it to use the folder .intertie.');
  if (log !== undefined && !(isFields(log) && typeof log['open'] === 'function')) {
    wrong(`log is ${show(log)}; create it with nats({ servers }) of @intertie/nats.`);
  }
  if (maxOutageMs !== undefined && !(typeof maxOutageMs === 'number' && maxOutageMs >= 0)) {
    wrong(`maxOutageMs is ${show(maxOutageMs)}; it should be a number of milliseconds.`);
  }
  if (history !== undefined) checkHistory(history);
  if (auth !== undefined && typeof auth !== 'function') {
    wrong(`auth is ${show(auth)}; it should be a function from a request to { id } or null.`);
  }
  if (token !== undefined) checkToken(token, 'token');
  if (hosts !== undefined && !isListOfText(hosts)) wrong(`hosts is ${show(hosts)}; it should be a list of host names.`);
  if (cors !== undefined && cors !== '*') checkOrigins(cors);
  if (trustProxy !== undefined) checkTrustProxy(trustProxy, 'trustProxy');
  if (limits !== undefined) checkLimits(limits);
  if (recordPrompts !== undefined && typeof recordPrompts !== 'boolean') {
    wrong(`recordPrompts is ${show(recordPrompts)}; it should be true or false.`);
  }
  if (prices !== undefined) checkPrices(prices);
  if (host !== undefined && typeof host !== 'string') wrong(`host is ${show(host)}; it should be an address.`);
  if (port !== undefined && !(Number.isInteger(port) && (port as number) >= 0 && (port as number) < 65_536)) {
    wrong(`port is ${show(port)}; it should be a number from 0 to 65535.`);
  }
}

/** Throws `bad-config` for a token that is short enough to guess. */
export function checkToken(token: unknown, where: 'token' | 'INTERTIE_TOKEN'): void {
  if (typeof token === 'string' && token.length >= 16) return;
  // The message must not contain the token.
  wrong(`${where} should have at least 16 characters, for example the output of "openssl rand -hex 24".`);
}

/** Parses `trustProxy` from text: a number of hops, or comma-separated addresses and CIDR ranges. */
export function parseTrustProxy(text: string, where: 'INTERTIE_TRUST_PROXY' | '--trust-proxy'): TrustProxy {
  const entries = text.split(',').map((entry) => entry.trim());
  const trustProxy = /^\d+$/.test(text.trim()) ? Number(text) : entries.filter((entry) => entry !== '');
  checkTrustProxy(trustProxy, where);
  return trustProxy;
}

function checkTrustProxy(trustProxy: unknown, where: string): void {
  if (Number.isInteger(trustProxy) && (trustProxy as number) >= 0) return;
  if (!isListOfText(trustProxy))
    return wrong(
      `${where} is ${show(trustProxy)}; it should be a number of proxies, or a list such as ['10.0.0.0/8'].`,
    );
  try {
    createClientReader(trustProxy);
  } catch (error) {
    wrong(`${where}: ${(error as Error).message}.`);
  }
}

function checkAgentOptions(key: string, { stopOnDisconnect, interrupts }: AgentDefinition): void {
  const { afterMs } = stopOnDisconnect ?? { afterMs: 0 };
  if (!(typeof afterMs === 'number' && afterMs >= 0))
    wrong(`agents.${key}.stopOnDisconnect.afterMs is ${show(afterMs)}; it should be a number of milliseconds.`);
  if (interrupts !== undefined && interrupts !== 'outcome' && interrupts !== 'langgraph')
    wrong(`agents.${key}.interrupts is ${show(interrupts)}; it should be 'outcome' or 'langgraph'.`);
}

function checkOrigins(cors: unknown): void {
  if (!isListOfText(cors)) return wrong(`cors is ${show(cors)}; it should be a list of origins, or '*'.`);
  for (const origin of cors) {
    if (URL.canParse(origin) && new URL(origin).origin === origin) continue;
    wrong(`cors has "${origin}"; an origin is a scheme and a host without a path: https://app.example.com`);
  }
}

function checkHistory(history: unknown): void {
  if (!isFields(history)) return wrong(`history is ${show(history)}; it should be an object.`);
  const { countTokens, ...limits } = history;
  for (const [key, value] of Object.entries(limits)) {
    if (key !== 'maxMessages' && key !== 'maxTokens')
      wrong(`history has no field "${key}". Use maxMessages, maxTokens or countTokens.`);
    if (value !== undefined && !(typeof value === 'number' && value > 0))
      wrong(`history.${key} is ${show(value)}; it should be a positive number.`);
  }
  if (countTokens !== undefined && typeof countTokens !== 'function')
    wrong(`history.countTokens is ${show(countTokens)}; it should be a function from a message to a number.`);
}

function checkLimits(limits: unknown): void {
  if (!isFields(limits)) return wrong(`limits is ${show(limits)}; it should be an object.`);
  const { streams, ...flat } = limits;
  const flatLimits = ['requestsPerSecond', 'runs', 'eventLoopDelayMs', ...Object.keys(defaultRequestLimits)];
  for (const key of Object.keys(flat)) {
    if (!flatLimits.includes(key)) wrong(`limits has no field "${key}". Use ${flatLimits.join(', ')} or streams.`);
  }
  const numbers = { ...flat, ...(isFields(streams) ? streams : {}) };
  for (const [key, value] of Object.entries(numbers)) {
    if (value !== undefined && !(typeof value === 'number' && value > 0)) {
      wrong(`limits: ${key} is ${show(value)}; it should be a positive number.`);
    }
  }
}

function checkPrices(prices: unknown): void {
  if (!isFields(prices)) return wrong(`prices is ${show(prices)}; it should be an object of prices by model id.`);
  for (const [model, price] of Object.entries(prices)) {
    const { input, output, cacheRead = 0, cacheWrite = 0 } = isFields(price) ? price : {};
    if ([input, output, cacheRead, cacheWrite].every((value) => typeof value === 'number' && value >= 0)) continue;
    wrong(`prices.${model} is ${show(price)}; it should be { input, output } in US dollars per million tokens.`);
  }
}

function wrong(text: string): never {
  throw new IntertieError('bad-config', text);
}

function isListOfText(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function show(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'function') return 'a function';
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
