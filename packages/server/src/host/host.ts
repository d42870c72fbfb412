import type { AgentDefinition, AgentKind, DurableAgent, Fault, Protocol, Store } from '@intertie/core';
import type { IntertieConfig, Limits } from '../config/config.ts';
import type { FrameRecorder } from './frame-recorder.ts';
import type { ModelCallRecorder } from './model-call-recorder.ts';
import type { OpenStreams } from '../http/open-streams.ts';
import type { Sessions } from '../http/session.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { ThreadTrees } from './thread-trees.ts';

/** Agent of the configuration that is ready to run. */
export type HostedAgent = { name: string; definition: AgentDefinition; agent: DurableAgent };

/** Configuration and state that all routes share. */
export type Host = {
  config: IntertieConfig;
  limits: Limits;
  agents: ReadonlyMap<string, HostedAgent>;
  defaultAgent: HostedAgent;
  protocols: readonly Protocol[];
  agentKinds: readonly AgentKind[];
  store: Store;
  database: { kind: 'pglite' | 'postgres' };
  /** Whether there is neither a token nor `auth`, so that only requests from this machine are accepted. */
  isLocalOnly: boolean;
  /** Error text for clients: the whole message on local servers, else undefined, which selects the default of the handlers. */
  errorText: ((error: Fault) => string) | undefined;
  /** Sessions of signed-in browsers; undefined without a token. */
  sessions: Sessions | undefined;
  frames: FrameRecorder;
  /** Absent if the server does not record what models are sent. */
  modelCalls: ModelCallRecorder | undefined;
  streams: OpenStreams;
  trees: ThreadTrees;
  metrics: Metrics;
  /** Current load of the process, for metrics. */
  load: { running: () => number; eventLoopDelayMs: () => number };
  logger: Logger;
  isClosing: () => boolean;
  /** Rejects if the database does not accept writes. */
  checkWrites: () => Promise<void>;
};
