// One server process of the chaos test: `node chaos-node.mjs <database> <effects file> [nats servers]`. Prints its URL.
// Its tools append their call id to the effects file with a synchronous write, so that a kill loses no line.
import { appendFileSync } from 'node:fs';
import { jsonSchema, tool } from 'ai';

import { nats } from '../../../nats/dist/nats.js';
import { model } from '../../dist/agent-kinds.js';
import { startDemoAgents } from '../../dist/demo/start-demo-agents.js';
import { demoModel } from '../../dist/demo/demo-model.js';
import { demoTools } from '../../dist/demo/demo-tools.js';
import { serve } from '../../dist/serve.js';

const [url, effects, servers] = process.argv.slice(2);
const record = (kind, id) => appendFileSync(effects, `${kind} ${id}\n`);
const { weather, sendEmail } = demoTools();
const inputSchema = jsonSchema({ type: 'object' });
const tools = {
  weather: tool({
    inputSchema,
    execute: async (input, options) => {
      record('weather', options.toolCallId);
      return weather.execute(input, options);
    },
  }),
  sendEmail: tool({
    inputSchema,
    needsApproval: true,
    execute: async (input, options) => {
      record('sendEmail', options.toolCallId);
      return sendEmail.execute(input, options);
    },
  }),
};
const demo = await startDemoAgents({ pace: 0.5 });
const agents = { ...demo.agents, worker: model(demoModel({ paceMs: 15 }), { tools }) };
const log = servers ? { log: nats({ servers: servers.split(',') }) } : {};
const served = await serve({ agents, database: { url }, ...log, limits: { requestsPerSecond: 10_000 } }, { port: 0 });
process.stdout.write(`${served.url}\n`);
// The test that started this process has ended.
process.stdin.on('end', () => process.exit(1)).resume();
process.once('SIGTERM', () => void served.close().then(() => process.exit(0)));
