// @ts-check
// node recovering-process.mjs <store> <name> <lease in ms, or 0> <file> <threads>: runs an agent until it is killed, and appends the
// calls that its tools execute to the file. Prints a line when the runs have started, a dot for every event, and a line when all runs
// have ended.
import { createStore } from '@intertie/postgres';
import { appendFileSync, writeSync } from 'node:fs';

import { createRecoveringAgent } from './recovering-agent.mjs';

const [target = '', name = '', leaseMs = '0', file = '', threads = ''] = process.argv.slice(2);
const lease = Number(leaseMs) > 0 ? { leaseMs: Number(leaseMs) } : {};
const store = await createStore(target.includes('://') ? { url: target, ...lease } : { folder: target, ...lease });
const onTool = (/** @type {string} */ call) => appendFileSync(file, `${call}\n`);
const { agent, host } = createRecoveringAgent(store, { process: name, onTool });
await host.open();
const runs = await Promise.all(
  threads.split(',').map(async (threadId) => agent.stream({ threadId, message: threadId })),
);
writeSync(1, '\n');
void Promise.all(runs.map(printEvents)).then(() => writeSync(1, '\n'));
process.on('SIGTERM', () => void host.close({ drainMs: 5_000 }).then(() => process.exit(0)));
setInterval(() => {}, 1_000);

/** @param {import('@intertie/agent').Run} run */
async function printEvents(run) {
  // oxlint-disable-next-line no-unused-vars
  for await (const _ of run.events) writeSync(1, '.');
}
