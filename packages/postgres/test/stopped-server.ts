import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { onTestFinished } from 'vitest';

/**
 * Starts a proxy to the server of a URL. Like a server that was stopped (SIGSTOP), it does not close its side of a connection
 * that the client closes. Returns its URL and the client connections.
 */
export async function startStoppedServer(serverUrl: string): Promise<{ url: string; clients: Set<Socket> }> {
  const url = new URL(serverUrl);
  const { port, hostname } = url;
  const clients = new Set<Socket>();
  const relay = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(Number(port), hostname);
    clients.add(client);
    client.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
    client.pipe(upstream, { end: false });
    upstream.on('data', (data) => client.write(data));
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  onTestFinished(() => {
    for (const client of clients) client.destroy();
    relay.close();
  });
  url.host = `127.0.0.1:${(relay.address() as AddressInfo).port}`;
  return { url: url.href, clients };
}
