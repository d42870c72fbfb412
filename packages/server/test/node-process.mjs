// One of several server processes on a Postgres database, with the demo agents: `node node-process.mjs <database> <pace>`.
// Its lease is short, so that its death is noticed soon. Prints its URL, and ends on SIGTERM.
import { modelAgent } from '@intertie/ai-sdk';

import { demoModel } from '../dist/demo/demo-model.js';
import { startDemoAgents } from '../dist/demo/start-demo-agents.js';
import { serve } from '../dist/serve.js';

const [url, pace] = process.argv.slice(2);
const { agents } = await startDemoAgents({ pace: Number(pace) });
const forgetful = modelAgent(demoModel({ paceMs: 25 * Number(pace) })); // without `recover`
const served = await serve(
  { agents: { ...agents, forgetful }, database: { url, leaseMs: 2000 }, limits: { requestsPerSecond: 10_000 } },
  { port: 0, runs: { heartbeatMs: 400, sweepMs: 300 } },
);
process.stdout.write(`${served.url}\n`);
// The test that started this process has ended.
process.stdin.on('end', () => process.exit(1)).resume();
process.once('SIGTERM', () => void served.close().then(() => process.exit(0)));
