import type { DurableAgent, Fault, Store } from '@intertie/core';
import type { AgentDefinition } from '../agents/agent-definition.ts';
import type { IntertieConfig, Limits } from '../config/config.ts';
import type { FrameKeeper } from './frames.ts';
import type { OpenStreams } from '../http/open-streams.ts';
import type { Sessions } from '../http/session.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { ThreadTrees } from './thread-trees.ts';

export type HostedAgent = { name: string; definition: AgentDefinition; agent: DurableAgent };

/** All that the routes share. */
export type Host = {
  config: IntertieConfig;
  limits: Limits;
  agents: ReadonlyMap<string, HostedAgent>;
  defaultAgent: HostedAgent;
  store: Store;
  database: { kind: 'pglite' | 'postgres' };
  /** Whether nobody has to say who they are, since only this machine is answered. */
  isOpen: boolean;
  /** Text of errors for clients: on loopback the whole message, elsewhere undefined, which is the default of the handlers. */
  errorText: ((error: Fault) => string) | undefined;
  /** Of browsers that have signed in; undefined where there is no token to sign in with. */
  sessions: Sessions | undefined;
  frames: FrameKeeper;
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
