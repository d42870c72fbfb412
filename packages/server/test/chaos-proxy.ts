import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type ChaosProxy = {
  url: string;
  cuts(): number;
  /** How many connections were there twice: what their client said was said to the server once more. */
  doubles(): number;
  close(): Promise<void>;
};

/**
 * A proxy that behaves badly: now and then it cuts a connection, or lets nothing through for a while, and of every other one it
 * delivers all requests a second time. `random` gives numbers from 0 to 1, so that a bad day can be had again.
 */
export async function startChaosProxy(target: string, random: () => number): Promise<ChaosProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let cuts = 0;
  let connections = 0;
  let doubles = 0;
  const keep = (socket: Socket, onClose?: () => void): void => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open.delete(socket);
      onClose?.();
    });
  };
  /** Another connection, on which the server hears the same and speaks to nobody. It stays as long as the server likes. */
  const double = (client: Socket): void => {
    doubles += 1;
    const twin = connect(Number(port), hostname);
    keep(twin);
    twin.resume();
    // As long for each, so that what it hears is in order.
    const delayMs = 100 * random();
    client.on('data', (chunk: Buffer) => void setTimeout(() => twin.writable && twin.write(chunk), delayMs));
  };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      keep(socket, () => {
        client.destroy();
        upstream.destroy();
      });
    }
    connections += 1;
    if (connections % 2 === 1) double(client);
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      const luck = random();
      if (luck < 0.05) {
        cuts += 1;
        // Half of what was said, and then nothing.
        client.write(chunk.subarray(0, chunk.length >> 1));
        client.destroySoon();
        upstream.destroy();
        return;
      }
      client.write(chunk);
      if (luck > 0.95) {
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

/** Numbers that look random and are the same every time (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
