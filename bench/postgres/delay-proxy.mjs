// @ts-check
// node delay-proxy.mjs <port> <target port> <ms>: forwards everything with that delay, in both directions. It runs in
// a separate process, so that it takes no CPU time from the measured one.
import { connect, createServer } from 'node:net';

const [port = 0, target = 0, ms = 0] = process.argv.slice(2).map(Number);

createServer({ noDelay: true }, (client) => {
  const server = connect({ port: target, host: '127.0.0.1', noDelay: true });
  for (const [from, to] of [
    [client, server],
    [server, client],
  ]) {
    from?.on('data', (data) => setTimeout(() => to?.write(data), ms));
    from?.on('end', () => setTimeout(() => to?.end(), ms));
    from?.on('error', () => to?.destroy());
  }
}).listen(port, '127.0.0.1', () => process.send?.('ready'));
