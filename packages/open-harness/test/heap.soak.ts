import { expect, test } from 'vitest';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ReplayRuntime } from './replay-runtime.ts';
import { findTrace } from './traces.ts';
import { OpenHarnessChatTransport } from '../src/chat/open-harness-chat-transport.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Runs before the measurement, in which the code is compiled and optimised. */
const warmUp = 6000;
const runs = 10_000;
const every = 500;

/** Computes the bytes per run by least squares. */
function computeSlope(heap: number[]): number {
  const middle = (heap.length - 1) / 2;
  const mean = heap.reduce((sum, bytes) => sum + bytes, 0) / heap.length;
  const over = heap.reduce((sum, bytes, index) => sum + (index - middle) * (bytes - mean), 0);
  const under = heap.reduce((sum, _, index) => sum + (index - middle) ** 2, 0);
  return over / under / every;
}

test('does not leak memory over ten thousand runs of one transport', async ({ annotate }) => {
  const transport = new OpenHarnessChatTransport(() => new ReplayRuntime(findTrace('03')), { sendFlowMetadata: true });
  const heap: number[] = [];
  for (let run = 0; run < warmUp + runs; run += 1) {
    const stream = await transport.sendMessages({
      chatId: `chat-${run}`,
      trigger: 'submit-message',
      messageId: undefined,
      messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
      abortSignal: undefined,
    });
    const reader = stream.getReader();
    // Every tenth reader cancels in the middle.
    const most = run % 10 === 0 ? 5 : Infinity;
    for (let count = 0; count < most && !(await reader.read()).done;) count += 1;
    await reader.cancel();
    if (run < warmUp || run % every !== 0) continue;
    // Let the callbacks of the last run finish before measuring.
    await setImmediate();
    collect();
    heap.push(process.memoryUsage().heapUsed);
  }
  const slope = computeSlope(heap);
  const figure = `heap over ${runs} runs: ${slope.toFixed(1)} bytes a run`;
  console.log(figure);
  await annotate(figure);
  expect(slope, figure).toBeLessThan(50);
});
