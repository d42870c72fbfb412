import { serve } from '@hono/node-server';
import { Agent } from '@intertie/agent';
import { createChatHandler } from '@intertie/ai-sdk';
import { createStore } from '@intertie/postgres';
import { Hono } from 'hono';
import { demoModel } from 'intertie';

const store = await createStore(process.env.DATABASE_URL ?? './.intertie');
const model = demoModel(); // a script; yours: anthropic('claude-sonnet-4-5'), or any other AI SDK model
const agent = new Agent({ name: 'helper', model, recover: 'step', store });
await agent.open(); // continues or ends the runs of processes that died
const chat = createChatHandler(agent);

const app = new Hono();
app.all('/api/chat', ({ req }) => chat(req.raw));
app.all('/api/chat/*', ({ req }) => chat(req.raw)); // …/:thread/stream and …/:thread/stop

const address = { hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) };
const server = serve({ fetch: app.fetch, ...address }, ({ port }) => console.log(`http://127.0.0.1:${port}/api/chat`));

process.once('SIGTERM', () => {
  server.close();
  void agent.close({ drainMs: 5_000 }).then(() => store.close());
});
