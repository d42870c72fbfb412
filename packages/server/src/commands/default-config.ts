import type { IntertieConfig } from '../config/config.ts';
import { environmentAgents } from '../config/environment-agents.ts';

export type DefaultConfig = { config: IntertieConfig; stop(): Promise<void> };

/** What is served where there is no configuration: what the environment has keys for, and the demos. */
export async function defaultConfig({ demos = true }: { demos?: boolean } = {}): Promise<DefaultConfig> {
  const [real, demo] = await Promise.all([
    environmentAgents(process.env),
    demos ? import('../demo/demo-agents.ts').then(({ startDemoAgents }) => startDemoAgents()) : undefined,
  ]);
  const agents = { ...real, ...demo?.agents };
  return { config: { agents }, stop: async () => demo?.stop() };
}
