import { expect, test } from 'vitest';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ReplayRuntime } from '../test/replay-runtime.ts';
import { traceOf } from '../test/traces.ts';
import { OpenHarnessChatTransport } from './open-harness-chat-transport.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const runs = 10_000;
const every = 500;

/** Bytes per run, by least squares over the second half: what is warm by then stays as it is. */
function slopeOf(heap: number[]): number {
  const warm = heap.slice(heap.length / 2);
  const middle = (warm.length - 1) / 2;
  const mean = warm.reduce((sum, bytes) => sum + bytes, 0) / warm.length;
  const over = warm.reduce((sum, bytes, index) => sum + (index - middle) * (bytes - mean), 0);
  const under = warm.reduce((sum, _, index) => sum + (index - middle) ** 2, 0);
  return over / under / every;
}

test('ten thousand runs of one transport leave nothing behind', async ({ annotate }) => {
  const transport = new OpenHarnessChatTransport(() => new ReplayRuntime(traceOf('03')), { sendFlowMetadata: true });
  const heap: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const stream = await transport.sendMessages({
      chatId: `chat-${run}`,
      trigger: 'submit-message',
      messageId: undefined,
      messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
      abortSignal: undefined,
    });
    const reader = stream.getReader();
    // Every tenth reader leaves in the middle.
    const most = run % 10 === 0 ? 5 : Infinity;
    for (let count = 0; count < most && !(await reader.read()).done;) count += 1;
    await reader.cancel();
    if (run % every !== 0) continue;
    collect();
    heap.push(process.memoryUsage().heapUsed);
  }
  const slope = slopeOf(heap);
  const figure = `heap over ${runs} runs: ${slope.toFixed(1)} bytes a run`;
  console.log(figure);
  await annotate(figure);
  expect(slope, figure).toBeLessThan(100);
});
