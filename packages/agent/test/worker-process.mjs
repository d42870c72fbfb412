// @ts-check
// node worker-process.mjs <url or folder> <name> <threads>: runs an agent until it is killed, and says what it does. It speaks
// with synchronous writes: what was said before the kill is heard after it.
//   b <thread>   a run begins        w <thread> <n> <ms>     the model says word n
//   t <call>     a tool runs         e <thread> <state>      a run has ended
import { createStore } from '@intertie/postgres';
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { createWorker } from './worker.mjs';

const [target = '', name = '', threads = ''] = process.argv.slice(2);
/** @param {(string | number)[]} words */
const say = (...words) => void writeSync(1, `${words.join(' ')}\n`);

const store = await createStore(target);

/** @param {string} threadId */
async function work(threadId) {
  const { agent } = createWorker(store, {
    process: name,
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

say('ready');
await Promise.all(threads.split(',').map(work));
