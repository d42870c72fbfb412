// @ts-check
// node worker-process.mjs <url or folder> <name> <threads>: runs an agent until it is killed, and prints what it does.
import { createStore } from '@intertie/postgres';

import { work } from './work.mjs';

const [target = '', name = '', threads = ''] = process.argv.slice(2);

await work(await createStore(target), { process: name, threads: threads.split(',') });
