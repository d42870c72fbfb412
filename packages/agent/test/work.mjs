// @ts-check
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { createWorker } from './worker.mjs';

/**
 * Runs an agent in these threads until its process is killed, and says what it does. It speaks with synchronous writes: what was
 * said before the kill is heard after it.
 *   b <thread>   a run begins        w <thread> <n> <ms>     the model says word n
 *   t <call>     a tool runs         e <thread> <state>      a run has ended
 * @param {import('@intertie/core').Store} store
 * @param {{ process: string, threads: string[] }} options
 */
export async function work(store, { process, threads }) {
  say('ready');
  await Promise.all(threads.map((threadId) => workIn(threadId, store, process)));
}

/** @param {(string | number)[]} words */
function say(...words) {
  writeSync(1, `${words.join(' ')}\n`);
}

/**
 * @param {string} threadId
 * @param {import('@intertie/core').Store} store
 * @param {string} process
 */
async function workIn(threadId, store, process) {
  const { agent } = createWorker(store, {
    process,
    onTool: (id) => say('t', id),
    onWord: (n) => say('w', threadId, n, performance.now()),
  });
  for (;;) {
    const what = ['words 40', 'tool', 'approve'][Math.floor(Math.random() * 3)] ?? 'tool';
    say('b', threadId);
    const run = await agent.stream({ threadId, message: what });
    const message = await run.message;
    say('e', threadId, message.status ?? '');
    if (message.status !== 'paused') continue;
    // One answer after the other: the kill may come between them.
    for (const part of message.content.parts) {
      if (part.type !== 'tool-invocation' || !part.approval) continue;
      await sleep(Math.random() * 30);
      const answered = await agent.answer(run.runId, [{ questionId: part.approval.questionId, approved: true }]);
      if (answered.run) await (await agent.attach(answered.run.runId))?.message;
    }
  }
}
