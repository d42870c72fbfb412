import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type Balancer = { url: string; close(): Promise<void> };

/** TCP load balancer: each connection goes to the next node, or to the one after it if that node is down. */
export async function startBalancer(nodes: ReadonlyArray<{ url: string }>): Promise<Balancer> {
  const open = new Set<Socket>();
  let next = 0;
  const track = (socket: Socket): void => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
  };
  const connectNode = (client: Socket, triesLeft: number): void => {
    const { hostname, port } = new URL(nodes[next++ % nodes.length]!.url);
    const upstream = connect(Number(port), hostname);
    track(upstream);
    let isConnected = false;
    upstream.on('connect', () => {
      isConnected = true;
      client.pipe(upstream).pipe(client);
    });
    upstream.on('close', () => {
      if (!isConnected && triesLeft > 0) connectNode(client, triesLeft - 1);
      // A broken connection must not look like a clean end.
      else client.destroy();
    });
    client.on('close', () => upstream.destroy());
  };
  const server = createServer((client) => {
    track(client);
    connectNode(client, nodes.length - 1);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
