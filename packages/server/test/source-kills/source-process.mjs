// @ts-check
// node source-process.mjs <database> <name> <lease in ms> <peers as JSON> <runs> <agent> ...: starts runs of the agents at random
// moments, and executes them until it is killed. Prints a line when it is ready, and the thread of each run when it has started.
import { createRunHost } from '@intertie/agent';
import { createStore } from '@intertie/postgres';
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { createAgents, hostOptions } from './source-agents.mjs';

/** Time between the runs of an agent, on average. */
const startMs = 50;

const [target = '', name = '', lease = '', peers = '', runs = '', ...requested] = process.argv.slice(2);
const leaseMs = Number(lease);
const store = await createStore({ ...(target.includes('://') ? { url: target } : { folder: target }), leaseMs });
const host = createRunHost(store, { process: name, ...hostOptions });
const agents = createAgents(store, host, JSON.parse(peers));
await host.open();
writeSync(1, 'ready\n');
for (let run = 0; run < Number(runs); run += 1) {
  for (const agent of requested) void start(agents[agent], `${name}-${run}-${agent}`);
}
setInterval(() => {}, 1_000);

/**
 * @param {import('@intertie/agent').Agent | undefined} agent
 * @param {string} threadId
 */
async function start(agent, threadId) {
  await sleep(Math.random() * startMs * (Number(runs) - 1));
  await agent?.stream({ threadId, message: 'A poem about tea' });
  writeSync(1, `${threadId}\n`);
}
