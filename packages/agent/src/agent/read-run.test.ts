import type { Followed } from '@intertie/core/internal';
import { expect, it, vi } from 'vitest';

import { readRun } from './read-run.ts';

it('cancels the followed run when encoding fails or the message is gone', async () => {
  const left = vi.fn<() => void>();
  const followed = (item: Followed): ReadableStream<Followed> =>
    new ReadableStream({ pull: (controller) => controller.enqueue(item), cancel: left }, { highWaterMark: 0 });
  const fail = (): never => {
    throw new Error('cannot be written');
  };
  const events: Followed = {
    type: 'events',
    events: [{ type: 'text-start', id: 'x' }],
    position: { epoch: 1, seq: 1 },
  };
  await expect(
    readRun(followed(events), async () => [], fail)
      .getReader()
      .read(),
  ).rejects.toThrow('cannot');
  expect(left).toHaveBeenCalledTimes(1);
  const gone = readRun(
    followed({ type: 'dropped' }),
    async () => fail(),
    () => undefined,
  );
  await expect(gone.getReader().read()).rejects.toThrow('cannot');
  expect(left).toHaveBeenCalledTimes(2);
});
