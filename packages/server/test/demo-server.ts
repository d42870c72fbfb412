import { createInMemoryStore, type Store } from '@intertie/core';
import type { IntertieConfig } from '../src/config/config.ts';
import { startDemoAgents } from '../src/demo/start-demo-agents.ts';
import type { Logger } from '../src/telemetry/logger.ts';
import { serve, type ServedIntertie } from '../src/serve.ts';

export type DemoServer = ServedIntertie & { store: Store };

/** Starts the demo agents on a free port, with an in-memory store by default. */
export async function startDemoServer(
  config: Partial<IntertieConfig> & { pace?: number; logger?: Logger } = {},
): Promise<DemoServer> {
  const { pace = 0, logger, ...rest } = config;
  const demo = await startDemoAgents({ pace });
  const store = (rest.database as Store | undefined) ?? createInMemoryStore();
  const served = await serve({ agents: demo.agents, ...rest, database: store }, { port: 0, ...(logger && { logger }) });
  return {
    ...served,
    store,
    close: async (options) => {
      await served.close(options);
      await demo.stop();
    },
  };
}
