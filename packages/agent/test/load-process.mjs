// @ts-check
// node load-process.mjs <url> <runs> <events a second> <seconds>: starts that many concurrent runs, whose deltas are a number
// and the time. Prints the run ids, and at the end the CPU, memory and duration.
import { Agent, createRunHost } from '@intertie/agent';
import { seal, sourceStream } from '@intertie/core';
import { createStore } from '@intertie/postgres';
import { setTimeout as sleep } from 'node:timers/promises';

const [url = '', ...numbers] = process.argv.slice(2);
const [runs = 1, perSecond = 1, seconds = 1] = numbers.map(Number);

/** @returns {AsyncGenerator<import('@intertie/core').AgentEvent>} */
async function* emitDeltas() {
  // Spreads the runs over a second.
  await sleep(Math.random() * 1000);
  const begun = performance.now();
  yield { type: 'text-start', id: 'a' };
  for (let n = 0; n < perSecond * seconds; n++) {
    yield { type: 'text-delta', id: 'a', delta: `${n}:${Date.now()} ` };
    await sleep(Math.max(0, begun + ((n + 1) * 1000) / perSecond - performance.now()));
  }
  yield { type: 'text-end', id: 'a' };
  yield { type: 'run-end', outcome: 'complete' };
}

/** @type {import('@intertie/core').AgentSource} */
const source = {
  name: 'load',
  pauses: 'replay',
  run: (run, { signal }) =>
    sourceStream(
      () => emitDeltas(),
      seal(run, () => undefined),
      { signal },
    ),
};

const store = await createStore(url);
const host = createRunHost(store, { onError: (error) => console.error(error) });
const agent = new Agent({ source, store, host });
let maxRss = 0;
const sampling = setInterval(() => void (maxRss = Math.max(maxRss, process.memoryUsage.rss())), 200);
const started = await Promise.all(
  Array.from({ length: runs }, (_, n) => agent.stream({ threadId: `load_${n}`, message: 'go' })),
);
console.log(JSON.stringify(started.map(({ runId }) => runId)));
const cpu = process.cpuUsage();
const begun = performance.now();
await Promise.all(started.map((run) => run.message));
clearInterval(sampling);
const { user, system } = process.cpuUsage(cpu);
const elapsed = performance.now() - begun;
await host.close();
await store.close();
console.log(JSON.stringify({ cpu: (user + system) / 1000 / elapsed, rss: maxRss / 2 ** 20, elapsed }));
