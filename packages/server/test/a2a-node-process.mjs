// Server process on a Postgres database with an agent that calls a remote A2A agent: `node a2a-node-process.mjs <database> <url>`.
// Its lease is short, so that its death is noticed soon. Prints its URL.
import { a2aAgent } from '@intertie/a2a';
import { startDemoAgents } from '../dist/demo/start-demo-agents.js';
import { serve } from '../dist/serve.js';

const [url, remote] = process.argv.slice(2);
const { agents } = await startDemoAgents({ pace: 0.3 });
const served = await serve(
  { agents: { ...agents, relay: a2aAgent({ url: remote }) }, database: { url, leaseMs: 2000 } },
  { port: 0, runs: { heartbeatMs: 400, sweepMs: 300 } },
);
process.stdout.write(`${served.url}\n`);
// The test that started this process has ended.
process.stdin.on('end', () => process.exit(1)).resume();
