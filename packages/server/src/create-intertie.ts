import { Agent, createRunHost, type RunHostOptions } from '@intertie/agent';
import { withDetachedLog, type AgentDefinition, type AgentKind, type Protocol, type Store } from '@intertie/core';
import { defaultRequestLimits } from '@intertie/core/http';
import { createStore } from '@intertie/postgres';
import { agentKinds as knownKinds } from './agent-kinds.ts';
import { isAgentDefinition, sourceDefinition } from './agents/agent-definition.ts';
import { createApp } from './app.ts';
import { checkConfig, checkToken, parseTrustProxy, type IntertieConfig, type Limits } from './config/config.ts';
import { defined } from '@intertie/core/internal';
import { EventLoopDelay } from './telemetry/event-loop-delay.ts';
import { FrameRecorder } from './host/frame-recorder.ts';
import { ModelCallRecorder } from './host/model-call-recorder.ts';
import { createRecordedSource } from './host/record-source.ts';
import type { Host, HostedAgent } from './host/host.ts';
import { OpenStreams } from './http/open-streams.ts';
import { Sessions } from './http/session.ts';
import type { ServerEnv } from './http/server-env.ts';
import { protocols as knownProtocols } from './protocols.ts';
import { silentLogger, type Logger } from './telemetry/logger.ts';
import { Metrics } from './telemetry/metrics.ts';
import { ThreadTrees } from './host/thread-trees.ts';

export type CreateIntertieOptions = {
  logger?: Logger;
  /** Protocols that the server offers. Default: all that it knows. */
  protocols?: readonly Protocol[];
  /** Kinds of agents that the server describes. Default: all that it knows. */
  agentKinds?: readonly AgentKind[];
  /** Settings for writing and sweeping the runs of this process. Load limits are in `limits` of the configuration. */
  runs?: Omit<RunHostOptions, 'onError' | 'onRunError' | 'observer' | 'maxRuns' | 'isOverloaded'>;
};

export type CloseIntertieOptions = {
  /** Time for running runs to finish, in milliseconds, before they are stopped. Default: 0. */
  drainMs?: number;
  /** Whether runs that another process can continue may finish too, instead of being handed over at once. Default: false. */
  handOverLast?: boolean;
};

/** Server without an HTTP listener. */
export interface Intertie {
  /** Handles a request. Usable with Hono, Next.js, Bun, Deno and anything else that takes a fetch handler. */
  readonly fetch: (request: Request, env?: ServerEnv['Bindings']) => Promise<Response>;
  /** The agents by name, for code in the same process. */
  readonly agents: ReadonlyMap<string, Agent>;
  readonly store: Store;
  /**
   * Lets runs finish, stops the remaining ones, closes all streams, and closes the database and the log if `createIntertie` opened them. A
   * second call can shorten `drainMs`, never extend it.
   */
  close(options?: CloseIntertieOptions): Promise<void>;
}

const defaultLimits: Limits = {
  ...defaultRequestLimits,
  requestsPerSecond: 200,
  streams: { perClient: 500, total: 5000 },
  runs: 2000,
  eventLoopDelayMs: 500,
};

/** Creates the server as a fetch handler. `serve` adds the HTTP server of Node to it. */
export async function createIntertie(config: IntertieConfig, options: CreateIntertieOptions = {}): Promise<Intertie> {
  checkConfig(config);
  const { database, token = readTokenVariable(), trustProxy = readTrustProxyVariable() } = config;
  const effective: IntertieConfig = { ...config, token, trustProxy };
  const { store, closeStore } = await openStore(
    database,
    config.log,
    createErrorLogger(options.logger ?? silentLogger),
  );
  try {
    return await assemble(effective, { ...options, store, closeStore });
  } catch (error) {
    await closeStore();
    throw error;
  }
}

type OpenedStore = { store: Store; closeStore: () => Promise<void> };

/** Opens the database and the log. `closeStore` closes what this function has opened. */
async function openStore(
  database: IntertieConfig['database'],
  definition: IntertieConfig['log'],
  onError: (error: unknown) => void,
): Promise<OpenedStore> {
  const opened = await definition?.open({ onError });
  try {
    const base: Store = isStore(database) ? database : await createStore(database);
    const { log, hints } = opened ?? {};
    return {
      store: log ? withDetachedLog(base, log, { onError, ...defined({ hints }) }) : base,
      async closeStore() {
        if (!isStore(database)) await base.close();
        await opened?.close();
      },
    };
  } catch (error) {
    await opened?.close();
    throw error;
  }
}

function createErrorLogger(logger: Logger): (error: unknown) => void {
  return (error) => logger.log('warn', 'run-host', { error: error instanceof Error ? error.message : String(error) });
}

type Parts = CreateIntertieOptions & OpenedStore;

async function assemble(config: IntertieConfig, { store, closeStore, ...parts }: Parts): Promise<Intertie> {
  const { logger = silentLogger, protocols = knownProtocols, agentKinds = knownKinds, runs: runOptions } = parts;
  const { database, maxOutageMs, token } = config;
  const limits: Limits = {
    ...defaultLimits,
    ...defined(config.limits ?? {}),
    streams: { ...defaultLimits.streams, ...defined(config.limits?.streams ?? {}) },
  };
  const metrics = new Metrics(Object.keys(config.agents));
  const runs = createRunHost(store, {
    ...defined({ maxOutageMs }),
    ...runOptions,
    maxRuns: limits.runs,
    isOverloaded: () => eventLoop.isAbove(limits.eventLoopDelayMs),
    observer: metrics.observer,
    onError: createErrorLogger(logger),
    onRunError: ({ runId, threadId, agent }, { message, code, data }) => {
      const details = data === undefined ? undefined : JSON.stringify(data);
      logger.log('error', 'run-failed', { runId, threadId, agent, code, error: message, details });
    },
  });
  const isLocalOnly = config.auth === undefined && token === undefined;
  const frames = new FrameRecorder();
  const modelCalls = (config.recordPrompts ?? isLocalOnly) ? new ModelCallRecorder(config.prices) : undefined;
  const recorders = { frames: isLocalOnly ? frames : undefined, modelCalls };
  const agents = new Map<string, HostedAgent & { agent: Agent }>();
  for (const [name, given] of Object.entries(config.agents)) {
    const definition: AgentDefinition = isAgentDefinition(given) ? given : sourceDefinition(given);
    const source = createRecordedSource(name, definition, recorders);
    const { stopOnDisconnect } = definition;
    const agentOptions = defined({ history: config.history, stopOnDisconnect });
    const agent = new Agent({ name, source, store, host: runs, ...agentOptions });
    agents.set(name, { name, definition, agent });
  }
  const eventLoop = new EventLoopDelay();
  const streams = new OpenStreams(limits.streams);
  let closing: Promise<void> | undefined;
  const host: Host = {
    config,
    limits,
    agents,
    defaultAgent: agents.get(config.defaultAgent ?? '') ?? agents.values().next().value!,
    protocols,
    agentKinds,
    store,
    database: { kind: databaseKind(database) },
    isLocalOnly,
    errorText: isLocalOnly ? ({ message }) => message : undefined,
    sessions: token === undefined ? undefined : new Sessions(token),
    frames,
    modelCalls,
    streams,
    trees: new ThreadTrees(),
    metrics,
    load: { running: () => runs.running, eventLoopDelayMs: () => eventLoop.ms },
    logger,
    isClosing: () => closing !== undefined,
    checkWrites: () => runs.checkWrites(),
  };
  const app = createApp(host);
  // Opened before the first request: the sweeper starts now and takes over runs of dead processes.
  try {
    await runs.open();
  } catch (error) {
    eventLoop.close();
    await runs.close();
    throw error;
  }

  const finishClosing = async (ended: Promise<void>): Promise<void> => {
    await ended;
    eventLoop.close();
    streams.failAll(new Error('The server is shutting down.'));
    await closeStore();
  };
  return {
    fetch: async (request, env) => app.fetch(request, env),
    agents: new Map([...agents].map(([name, { agent }]) => [name, agent])),
    store,
    close: (options) => {
      const ended = runs.close(options);
      closing ??= finishClosing(ended);
      return closing;
    },
  };
}

function isStore(database: IntertieConfig['database']): database is Store {
  return typeof database === 'object' && 'registry' in database;
}

function databaseKind(database: IntertieConfig['database']): 'pglite' | 'postgres' {
  const target = database ?? process.env['DATABASE_URL'] ?? '';
  if (typeof target === 'string') return /^postgres(ql)?:/.test(target) ? 'postgres' : 'pglite';
  if (isStore(target)) return 'postgres';
  return target.url !== undefined || target.pool !== undefined ? 'postgres' : 'pglite';
}

function readTokenVariable(): string | undefined {
  const token = process.env['INTERTIE_TOKEN'];
  if (token === undefined || token === '') return undefined;
  checkToken(token, 'INTERTIE_TOKEN');
  return token;
}

function readTrustProxyVariable(): IntertieConfig['trustProxy'] {
  const text = process.env['INTERTIE_TRUST_PROXY'];
  return text === undefined || text === '' ? undefined : parseTrustProxy(text, 'INTERTIE_TRUST_PROXY');
}
