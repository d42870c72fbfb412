// @ts-check
// node boundary-process.mjs <url or folder> <name> <events>: starts a run for each boundary between events, including before
// the first and after the last, appends the events before it, prints `ready`, and waits for the kill.
//   s <run> <thread> <message> <n>   run started, its first n events are durable
import { writeSync } from 'node:fs';

import { generateId } from '@intertie/core';
import { createStore } from '@intertie/postgres';

const [target = '', name = '', json = '[]'] = process.argv.slice(2);
/** @type {import('@intertie/core').AgentEvent[]} */
const events = JSON.parse(json);

const { registry, log, scope } = await createStore(target);
await registry.heartbeat(name);
setInterval(() => void registry.heartbeat(name), 2000);

for (let count = 0; count <= events.length; count++) {
  const [runId, messageId, threadId] = [generateId(), generateId(), `thread_${count}`];
  const request = { threadId, runId, messageId, agent: 'writer', process: name };
  const started = await registry.start(scope, { ...request, busy: 'reject', pending: 'supersede' });
  if (started.type !== 'started') throw new Error(JSON.stringify(started));
  const { run, epoch, nextSeq } = started;
  const written = events
    .slice(0, count)
    .map((event) => (event.type === 'run-start' ? { ...event, runId, messageId, threadId } : event));
  for (const [index, event] of written.entries()) {
    const [verdict] = await log.append([{ run: run.key, epoch, seq: nextSeq + index, events: [event] }]);
    if (verdict !== 'ok') throw new Error(verdict);
  }
  writeSync(1, `s ${run.key} ${threadId} ${messageId} ${count}\n`);
}
writeSync(1, 'ready\n');
