// @ts-check
// node writer-process.mjs <url or folder> <name> <threads>: writes runs until it is killed and reports durable events. Writes
// to stdout are synchronous, so that lines from before the kill arrive.
//   s <run> <thread> <message>   run started               w <run> <n> <ms>   word n was written at this time
//   a <run> <n>                  word n is durable         e <run>            end of the run is durable
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { generateId } from '@intertie/core';
import { createRunFlusher } from '@intertie/core/internal';
import { createStore } from '@intertie/postgres';

const [target = '', name = '', threads = ''] = process.argv.slice(2);
/** @param {(string | number)[]} fields */
const print = (...fields) => void writeSync(1, `${fields.join(' ')}\n`);

const store = await createStore(target);
await store.registry.heartbeat(name);
setInterval(() => void store.registry.heartbeat(name), 2000);

const { log, registry, scope } = store;
const flusher = createRunFlusher({
  log: {
    ...log,
    async append(batches) {
      const verdicts = await log.append(batches);
      for (const { run, events } of batches) {
        const last = events.findLast((event) => event.type === 'text-delta');
        if (last) print('a', run, Number(last.delta.trim().split(' ').at(-1)));
      }
      return verdicts;
    },
  },
});

/** @param {string} threadId */
async function writeRun(threadId) {
  const [runId, messageId] = [generateId(), generateId()];
  const request = { threadId, runId, messageId, agent: 'writer', process: name };
  const started = await registry.start(scope, { ...request, busy: 'reject', pending: 'supersede' });
  if (started.type !== 'started') throw new Error(JSON.stringify(started));
  const { key } = started.run;
  print('s', key, threadId, messageId);
  const writer = flusher.open(started);
  writer.write({ type: 'run-start', runId, threadId, messageId, at: Date.now() });
  writer.write({ type: 'text-start', id: runId });
  let text = '';
  for (let n = 0; n < 30 + Math.random() * 60; n++) {
    text += `${n} `;
    writer.write({ type: 'text-delta', id: runId, delta: `${n} ` });
    print('w', key, n, performance.now());
    if (Math.random() < 0.05) await writer.barrier();
    await sleep(Math.random() * 8);
  }
  writer.write({ type: 'text-end', id: runId });
  writer.write({ type: 'run-end', outcome: 'complete' });
  const outcome = /** @type {const} */ ({ outcome: 'complete' });
  const content = {
    format: /** @type {const} */ (2),
    parts: [{ type: /** @type {const} */ ('text'), id: runId, text }],
  };
  const { result } = await writer.finish((rest) => registry.finish(key, started.epoch, { ...rest, outcome, content }));
  if (result === 'ok') print('e', key);
}

print('ready');
await Promise.all(
  threads.split(',').map(async (threadId) => {
    for (;;) await writeRun(threadId);
  }),
);
