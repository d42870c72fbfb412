// @ts-check
// node resume-process.mjs <url> <name> <lease in ms> [<thread>=<message> ...]: runs a resumable agent until it is killed.
import { Agent, createRunHost } from '@intertie/agent';
import { createStore } from '@intertie/postgres';
import { writeSync } from 'node:fs';

import { resumableSource } from './resumable-source.mjs';

const [target = '', name = '', leaseMs = '2000', ...requests] = process.argv.slice(2);
const store = await createStore({ url: target, leaseMs: Number(leaseMs) });
const host = createRunHost(store, { process: name });
const agent = new Agent({ source: resumableSource(), store, host });
await agent.open();
for (const request of requests) {
  const [threadId = '', message = ''] = request.split('=');
  await agent.stream({ threadId, message });
}
writeSync(1, 'ready\n');
process.on('SIGTERM', () => void host.close().then(() => process.exit(0)));
setInterval(() => {}, 1_000);
