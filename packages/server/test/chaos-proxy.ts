import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type ChaosProxy = {
  url: string;
  cuts(): number;
  /** Number of connections whose requests were delivered twice. */
  doubles(): number;
  close(): Promise<void>;
};

/**
 * Proxy that randomly cuts or stalls connections, and delivers all requests of every other connection twice. `random` returns
 * numbers from 0 to 1, so that a failure can be reproduced with a seed.
 */
export async function startChaosProxy(target: string, random: () => number): Promise<ChaosProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let cuts = 0;
  let connections = 0;
  let doubles = 0;
  const track = (socket: Socket, onClose?: () => void): void => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open.delete(socket);
      onClose?.();
    });
  };
  /** Sends the client's requests over a second connection and discards the responses. */
  const deliverTwice = (client: Socket): void => {
    doubles += 1;
    const second = connect(Number(port), hostname);
    track(second);
    second.resume();
    // One delay per connection, so that its data stays in order.
    const delayMs = 100 * random();
    client.on('data', (chunk: Buffer) => void setTimeout(() => second.writable && second.write(chunk), delayMs));
  };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      track(socket, () => {
        client.destroy();
        upstream.destroy();
      });
    }
    connections += 1;
    if (connections % 2 === 1) deliverTwice(client);
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      const chance = random();
      if (chance < 0.05) {
        cuts += 1;
        // Sends half of the chunk before the cut.
        client.write(chunk.subarray(0, chunk.length >> 1));
        client.destroySoon();
        upstream.destroy();
        return;
      }
      client.write(chunk);
      if (chance > 0.95) {
        upstream.pause();
        setTimeout(() => upstream.resume(), 200 * random());
      }
    });
    upstream.on('end', () => client.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    doubles: () => doubles,
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Creates a seeded random number generator (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
