import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

import { expect, it, onTestFinished, vi } from 'vitest';

import { freePort } from '../../../tests/peers/free-port.ts';
import { nats } from './nats.ts';

type FakeServer = { url: string; sockets: Socket[] };

/** Speaks the protocol of NATS, and answers every request with the same message. */
async function startFakeServer(version: string, reply: (inbox: string) => string): Promise<FakeServer> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    // The client may close the connection while the server writes.
    socket.on('error', () => undefined);
    socket.write(`INFO ${JSON.stringify({ server_id: 's', max_payload: 1024, headers: true, version })}\r\n`);
    socket.on('data', (data) => {
      for (const line of String(data).split('\r\n')) {
        if (line === 'PING') socket.write('PONG\r\n');
        const [, inbox] = /^H?PUB \S+ (\S+) /.exec(line) ?? [];
        if (inbox) socket.write(reply(inbox));
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

/** Status that no subscriber exists, as for every request if JetStream is off. */
const noResponders = (inbox: string): string => {
  const status = 'NATS/1.0 503\r\n\r\n';
  return `HMSG ${inbox} 1 ${status.length} ${status.length}\r\n${status}\r\n`;
};

const existingStream = (inbox: string): string => {
  const flags = { allow_rollup_hdrs: true, allow_direct: true, allow_msg_ttl: true };
  const config = { num_replicas: 1, storage: 'file', discard: 'new', ...flags };
  const text = JSON.stringify({ config });
  return `MSG ${inbox} 1 ${text.length}\r\n${text}\r\n`;
};

it('names the servers and a fix if none can be reached, without the password', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const opening = nats({ servers: `nats://ada:secret@${address}` }).open();
  await expect(opening).rejects.toMatchObject({ code: 'database-away' });
  await expect(opening).rejects.toThrow(`No NATS server can be reached at nats://***@${address}`);
  await expect(opening).rejects.toThrow('Start nats-server with JetStream (-js)');
});

it('rejects a server that is too old', async () => {
  const { url } = await startFakeServer('2.10.27', noResponders);
  await expect(nats({ servers: url }).open()).rejects.toThrow('has version 2.10.27. Use 2.11.0 or later');
});

it('rejects a server without JetStream', async () => {
  const { url } = await startFakeServer('2.11.0', noResponders);
  await expect(nats({ servers: url }).open()).rejects.toThrow('NATS JetStream did not answer');
});

it('rejects an existing stream with fewer replicas than configured', async () => {
  const { url } = await startFakeServer('2.11.0', existingStream);
  await expect(nats({ servers: url, replicas: 3 }).open()).rejects.toThrow('it has 1 replicas, not 3');
});

it('reconnects after the clock was set back by two hours', async () => {
  const { url, sockets } = await startFakeServer('2.11.0', existingStream);
  const opened = await nats({ servers: url }).open();
  onTestFinished(() => opened.close());
  const { now } = Date;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - 2 * 60 * 60 * 1000);
  onTestFinished(() => clock.mockRestore());
  sockets[0]!.destroy();
  await vi.waitFor(() => expect(sockets).toHaveLength(2), { timeout: 10_000 });
});
