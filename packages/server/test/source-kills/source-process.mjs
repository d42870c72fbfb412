// @ts-check
// node source-process.mjs <database> <name> <lease in ms> <peers as JSON> [<agent> ...]: runs the agents until it is killed.
import { createRunHost } from '@intertie/agent';
import { createStore } from '@intertie/postgres';
import { writeSync } from 'node:fs';

import { createAgents, hostOptions } from './source-agents.mjs';

const [target = '', name = '', leaseMs = '', peers = '', ...requested] = process.argv.slice(2);
const store = await createStore(
  target.includes('://') ? { url: target, leaseMs: Number(leaseMs) } : { folder: target, leaseMs: Number(leaseMs) },
);
const host = createRunHost(store, { process: name, ...hostOptions });
const agents = createAgents(store, host, JSON.parse(peers));
await host.open();
writeSync(1, 'ready\n');
await Promise.all(
  requested.map((agent) => agents[agent]?.stream({ threadId: `${name}-${agent}`, message: 'A poem about tea' })),
);
writeSync(1, 'started\n');
setInterval(() => {}, 1_000);
