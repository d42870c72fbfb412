import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createChatHandler } from '@intertie/ai-sdk';
import { buildPage, isStale } from './build-page.ts';
import { demoSource } from './demo-source.ts';
import { servePage } from './serve-page.ts';

const help = `A chat page: useChat over a scripted source. No key, no model, no database.

usage: npm start -w @intertie-example/chat-page [-- options]

  --port N    where to listen, on this machine only (default: 4600; 0: any free port)
  --speed N   1 as a model types, 10 ten times as fast
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
    throw new Error(`--port ${values.port}: give a number up to 65535.`);
  const speed = Number(values.speed ?? 1);
  if (!(speed > 0)) throw new Error(`--speed ${values.speed}: give a number above 0.`);

  if (await isStale(page, built)) {
    console.log('Building the page. This takes a few seconds, once.');
    await buildPage(page, built);
  }
  const chat = createChatHandler(demoSource({ speed }));
  const server = await servePage(port, { folder: built, chat }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new Error(
      `Port ${port} is taken. Stop what listens there, or choose another: npm start -w @intertie-example/chat-page -- --port ${port + 1}`,
    );
  });
  const { port: taken } = server.address() as AddressInfo;
  console.log(`\n  Open http://localhost:${taken} and ask why the build is slow.\n\n  Ctrl+C ends it.`);
}
