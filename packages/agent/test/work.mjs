// @ts-check
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { createWorker } from './worker.mjs';

/**
 * Runs an agent in these threads until its process is killed, and prints what it does. Writes are synchronous, so that nothing
 * printed before the kill is lost.
 *   b <thread>   a run begins        d <thread> <n> <ms>     the model emits delta n
 *   t <call>     a tool runs         e <thread> <state>      a run has ended
 * @param {import('@intertie/core').Store} store
 * @param {{ process: string, threads: string[] }} options
 */
export async function work(store, { process, threads }) {
  print('ready');
  await Promise.all(threads.map((threadId) => workIn(threadId, store, process)));
}

/** @param {(string | number)[]} fields */
function print(...fields) {
  writeSync(1, `${fields.join(' ')}\n`);
}

/**
 * @param {string} threadId
 * @param {import('@intertie/core').Store} store
 * @param {string} process
 */
async function workIn(threadId, store, process) {
  const { agent } = createWorker(store, {
    process,
    onTool: (id) => print('t', id),
    onDelta: (n) => print('d', threadId, n, performance.now()),
  });
  for (;;) {
    const what = ['text 40', 'tool', 'approve'][Math.floor(Math.random() * 3)] ?? 'tool';
    print('b', threadId);
    const run = await agent.stream({ threadId, message: what });
    const message = await run.message;
    print('e', threadId, message.status ?? '');
    if (message.status !== 'paused') continue;
    // One answer after the other, so that the kill can happen between them.
    for (const part of message.content.parts) {
      if (part.type !== 'tool-invocation' || !part.approval) continue;
      await sleep(Math.random() * 30);
      const answered = await agent.answer(run.runId, [{ questionId: part.approval.questionId, approved: true }]);
      if (answered.run) await (await agent.attach(answered.run.runId))?.message;
    }
  }
}
