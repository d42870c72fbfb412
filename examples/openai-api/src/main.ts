import { serve } from '@hono/node-server';
import { Agent } from '@intertie/agent';
import { openHarnessSource } from '@intertie/open-harness';
import { demoRuntime } from '@intertie/open-harness/demo';
import { createOpenAIHandler } from '@intertie/openai';

const agent = new Agent({ source: openHarnessSource(demoRuntime) });
const fetch = createOpenAIHandler(agent);

const address = { hostname: '127.0.0.1', port: Number(process.env.PORT ?? 8000) };
const server = serve({ fetch, ...address }, ({ port }) => console.log(`http://127.0.0.1:${port}/v1`));

process.once('SIGTERM', () => {
  server.close();
  void agent.close({ drainMs: 5_000 });
});
