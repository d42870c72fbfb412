// @ts-check
// node worker-process.mjs "<postgres url> <nats urls>" <name> <threads>: runs an agent whose log is on NATS until it is killed.
import { withDetachedLog } from '@intertie/core';
import { nats } from '@intertie/nats';
import { createStore } from '@intertie/postgres';

import { work } from '../../agent/test/work.mjs';

const [urls = '', name = '', threads = ''] = process.argv.slice(2);
const [postgres = '', servers = ''] = urls.split(' ');

const { log, hints } = await nats({ servers: servers.split(',') }).open();
const store = withDetachedLog(await createStore(postgres), log, hints ? { hints } : {});
await work(store, { process: name, threads: threads.split(',') });
