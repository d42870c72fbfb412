import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createChatHandler } from '@intertie/ai-sdk';
import { buildPage, isStale } from './build-page.ts';
import { demoSource } from './demo-source.ts';
import { servePage } from './serve-page.ts';

const help = `A chat page: useChat over a scripted source. No key, no model, no database.

usage: npm start -w @intertie-example/chat-page [-- options]

  --port N    port on the loopback address (default: 4600; 0: any free port)
  --speed N   speed relative to a model (default: 1)
  -h, --help`;

const page = fileURLToPath(new URL('../page', import.meta.url));
const built = fileURLToPath(new URL('page', import.meta.url));

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
});

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { port: { type: 'string' }, speed: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return console.log(help);
  const port = Number(values.port ?? 4600);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port ${values.port}: use a number from 0 to 65535.`);
  const speed = Number(values.speed ?? 1);
  if (!(speed > 0)) throw new Error(`--speed ${values.speed}: use a number above 0.`);

  if (await isStale(page, built)) {
    console.log('Building the page. This takes a few seconds, once.');
    await buildPage(page, built);
  }
  const chat = createChatHandler(demoSource({ speed }));
  const server = await servePage(port, { folder: built, chat }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new Error(
      `Port ${port} is in use. Stop the process that uses it, or choose another port: npm start -w @intertie-example/chat-page -- --port ${port + 1}`,
    );
  });
  const { port: actualPort } = server.address() as AddressInfo;
  console.log(`\n  Open http://localhost:${actualPort} and ask why the build is slow.\n\n  Press Ctrl+C to stop.`);
}
