import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Agent } from '@intertie/agent';
import { createChatHandler } from '@intertie/ai-sdk';
import { openHarnessSource } from '@intertie/open-harness';
import { demoRuntime } from '@intertie/open-harness/demo';
import express from 'express';

// Without a store, conversations stay in memory. Pass a store of @intertie/postgres to persist them.
const agent = new Agent({ source: openHarnessSource(demoRuntime) });

const app = express();
// Before any body parser: the handler reads the body itself.
app.use('/api/chat', getRequestListener(createChatHandler(agent)));

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/chat`);
});

process.once('SIGTERM', () => {
  server.close();
  void agent.close({ drainMs: 5_000 });
});
