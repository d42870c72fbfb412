// @ts-check
// node finisher-process.mjs <postgres url> <redis url> <run> <next>: ends a run, and is killed before the log is closed.
import { withDetachedLog } from '@intertie/core';
import { createStore } from '@intertie/postgres';
import { createClient } from 'redis';

import { createRedisLog } from '../../../examples/redis-log/dist/redis-log.js';

const [postgres = '', redis = '', run = '', next = ''] = process.argv.slice(2);

const client = await createClient({ url: redis }).connect();
const dying = { ...createRedisLog(client), close: async () => void process.kill(process.pid, 'SIGKILL') };
const store = withDetachedLog(await createStore(postgres), dying);
const key = /** @type {import('@intertie/core').RunKey} */ (run);
await store.registry.finish(key, 1, {
  nextSeq: Number(next),
  events: [{ type: 'run-end', outcome: 'complete' }],
  outcome: { outcome: 'complete' },
  content: { format: 2, parts: [{ type: 'text', id: 'p', text: 'Hello' }] },
});
