// @ts-check
// node worker-process.mjs "<postgres url> <redis url>" <name> <threads>: runs an agent whose log is on Redis until it is killed.
import { withDetachedLog } from '@intertie/core';
import { createStore } from '@intertie/postgres';
import { createClient } from 'redis';

import { createRedisLog } from '../../../examples/redis-log/dist/redis-log.js';
import { work } from '../../../packages/agent/test/work.mjs';

const [urls = '', name = '', threads = ''] = process.argv.slice(2);
const [postgres = '', redis = ''] = urls.split(' ');

const client = await createClient({ url: redis }).connect();
const store = withDetachedLog(await createStore(postgres), createRedisLog(client));
await work(store, { process: name, threads: threads.split(',') });
