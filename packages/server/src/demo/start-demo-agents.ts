import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentDefinition, AgentKind, DemoHost } from '@intertie/core';
import { agentKinds } from '../agent-kinds.ts';
import { nodeListener } from '../http/node-listener.ts';
import { createDemoSource } from './model-demo.ts';

export type DemoOptions = {
  /** Delay factor of the demos: 1 for the pace of a person who types, 0 for none. Default: 1. */
  pace?: number;
  /** Kinds whose demos are started. Default: all. */
  kinds?: readonly AgentKind[];
};

export type StartedDemos = { agents: { [name: string]: AgentDefinition }; stop(): Promise<void> };

/** Starts one scripted agent of every kind. They need no API key and send nothing to other machines. */
export async function startDemoAgents({ pace = 1, kinds = agentKinds }: DemoOptions = {}): Promise<StartedDemos> {
  const host: DemoHost = { pace, listen, createSource: (name) => createDemoSource(name, pace) };
  const demos = (await Promise.all(kinds.map(async (kind) => kind.startDemo?.(host)))).filter(
    (demo) => demo !== undefined,
  );
  const entries = demos.flatMap(({ agents }) => Object.entries(agents));
  return {
    agents: Object.fromEntries(entries.map(([name, agent]) => [name, { ...agent, isDemo: true as const }])),
    stop: async () => void (await Promise.all(demos.map(async ({ stop }) => stop?.()))),
  };
}

const listen: DemoHost['listen'] = async (handler) => {
  const server = createServer(nodeListener(handler));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
};
