import { sourceKind } from '../agents/agent-definition.ts';
import { toAgentInfo, toKindInfo, toProtocolInfo } from './api.ts';
import type { Host } from '../host/host.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import { version } from '../config/version.ts';
import { findAgent, type App } from './context.ts';

/** Adds the routes that list agents, their topology, and the protocols and kinds of agents. */
export function addAgentRoutes(app: App, host: Host): void {
  app.get('/api/agents', (c) =>
    c.json({
      agents: [...host.agents.values()].map((agent) => toAgentInfo(agent, host.defaultAgent.name)),
      version,
      database: host.database,
      loopback: host.isLocalOnly,
    }),
  );

  app.get('/api/protocols', (c) =>
    c.json({
      protocols: host.protocols.map(toProtocolInfo),
      agentKinds: [...host.agentKinds, sourceKind].map(toKindInfo),
    }),
  );

  app.get('/api/agents/:agent/topology', async (c) => {
    const { name, agent } = findAgent(host, c);
    if (!agent.source.describe) throw new IntertieError('no-topology', `The agent "${name}" has no topology.`);
    try {
      return c.json(await agent.source.describe());
    } catch (cause) {
      throw new IntertieError('runtime-failed', `The runtime of "${name}" did not return its topology.`, { cause });
    }
  });
}
