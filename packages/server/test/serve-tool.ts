import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import { nodeListener } from '../src/http/node-listener.ts';

const servers: Server[] = [];

/** Starts a server on loopback for the tests of a file. */
export async function serve(handler: (request: Request) => Response | Promise<Response>): Promise<string> {
  const server = createServer(nodeListener(handler));
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterAll(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});
