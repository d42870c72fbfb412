import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAGUIHandler } from '@intertie/ag-ui';
import type { AgentSource } from '@intertie/core';
import { nodeListener } from '../http/node-listener.ts';

/** Serves a source as an AG-UI agent on its own loopback port, as an example of a remote agent. */
export async function startAGUIDemo(source: AgentSource): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(nodeListener(createAGUIHandler(source)));
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
}
