import type { IntertieConfig } from '../config/config.ts';
import { agentKinds } from '../agent-kinds.ts';
import { findEnvironmentAgents } from '../config/environment-agents.ts';

export type DefaultConfigOptions = {
  /** Whether to add the demo agents. */
  demos: boolean;
  /** Receives the error of an agent whose optional package is not installed. */
  onMissing: (error: Error) => void;
};
export type DefaultConfig = { config: IntertieConfig; stop(): Promise<void> };

/** Configuration without a configuration file: agents for the credentials in the environment, and the demo agents. */
export async function defaultConfig({ demos, onMissing }: DefaultConfigOptions): Promise<DefaultConfig> {
  const [real, demo] = await Promise.all([
    findEnvironmentAgents(agentKinds, process.env, onMissing),
    demos ? import('../demo/start-demo-agents.ts').then(({ startDemoAgents }) => startDemoAgents()) : undefined,
  ]);
  const agents = { ...real, ...demo?.agents };
  return { config: { agents }, stop: async () => demo?.stop() };
}
