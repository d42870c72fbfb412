import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

import { expect, it, onTestFinished } from 'vitest';

import { freePort } from '../../../tests/peers/free-port.ts';
import { nats } from './nats.ts';

it('names the servers and a fix if none can be reached, without the password', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const opening = nats({ servers: `nats://ada:secret@${address}` }).open();
  await expect(opening).rejects.toMatchObject({ code: 'database-away' });
  await expect(opening).rejects.toThrow(`No NATS server can be reached at nats://***@${address}`);
  await expect(opening).rejects.toThrow('Start nats-server with JetStream (-js)');
});

it.each([
  ['a server that is too old', { version: '2.8.4' }, 'The NATS server has version 2.8.4. Use 2.9.0 or later.'],
  ['a server without JetStream', { version: '2.9.10' }, 'NATS JetStream did not answer'],
])('rejects %s', async (_, info, message) => {
  // Answers like a server that has no subscriber for any request.
  const server = createServer((socket) => {
    socket.write(`INFO ${JSON.stringify({ server_id: 's', max_payload: 1024, headers: true, ...info })}\r\n`);
    socket.on('data', (data) => {
      for (const line of String(data).split('\r\n')) {
        if (line === 'PING') socket.write('PONG\r\n');
        const [, reply] = /^H?PUB \S+ (\S+) /.exec(line) ?? [];
        const status = 'NATS/1.0 503\r\n\r\n';
        if (reply) socket.write(`HMSG ${reply} 1 ${status.length} ${status.length}\r\n${status}\r\n`);
      }
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(nats({ servers: `nats://127.0.0.1:${port}`, timeoutMs: 500 }).open()).rejects.toThrow(message);
});
