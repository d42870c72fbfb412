import { serve } from '@hono/node-server';
import { Agent } from '@intertie/agent';
import { createChatHandler } from '@intertie/ai-sdk';
import { createStore } from '@intertie/postgres';
import { demoModel } from 'intertie';

const url = process.env.DATABASE_URL;
if (url === undefined) throw new Error('Set DATABASE_URL to the Postgres that all nodes share.');

const store = await createStore(url);
const model = demoModel(); // a script; yours: anthropic('claude-sonnet-4-5'), or any other AI SDK model
const agent = new Agent({ name: 'helper', model, recover: 'step', store });
await agent.open(); // continues or ends the runs of processes that died
const fetch = createChatHandler(agent);

const address = { hostname: process.env.HOST ?? '127.0.0.1', port: Number(process.env.PORT ?? 3000) };
const server = serve({ fetch, ...address }, ({ port }) => console.log(`http://127.0.0.1:${port}/`));

process.once('SIGTERM', () => {
  server.close();
  void agent.close({ drainMs: 5_000 }).then(() => store.close());
});
