import { describe, expect, it, vi } from 'vitest';
import { readAll } from '../../test/read-all.ts';
import type { Loss } from '../json/loss.ts';
import { recordTape } from './record-tape.ts';
import { toReadableStream } from '../stream/to-readable-stream.ts';

describe('recordTape', () => {
  it('does not read the stream before its output is read', async () => {
    const pull = vi.fn<() => void>();
    recordTape(new ReadableStream({ pull }, { highWaterMark: 0 }), { dialect: 'canonical' });
    await new Promise((resolve) => setTimeout(resolve));
    expect(pull).not.toHaveBeenCalled();
  });

  it('passes every item on and records it with its time', async () => {
    let clock = Date.UTC(2026, 0, 31);
    async function* items(): AsyncGenerator {
      clock += 10;
      yield { type: 'a' };
      clock += 5;
      yield 'b';
      clock -= 100;
      yield 'c';
    }
    const { stream, tape } = recordTape(toReadableStream(items()), {
      dialect: 'mail',
      now: () => clock,
      header: { title: 'Hello' },
    });
    expect(await readAll(stream)).toEqual([{ type: 'a' }, 'b', 'c']);
    expect(tape).toEqual({
      header: { tape: 1, dialect: 'mail', createdAt: '2026-01-31T00:00:00.000Z', title: 'Hello' },
      items: [
        { t: 10, item: { type: 'a' } },
        { t: 15, item: 'b' },
        { t: 15, item: 'c' },
      ],
    });
  });

  it('converts values that are not JSON on the tape, and reports them', async () => {
    const losses: Loss[] = [];
    const source = toReadableStream([{ big: 1n }]);
    const { stream, tape } = recordTape(source, { dialect: 'x', onLoss: (loss) => losses.push(loss) });
    expect(await readAll(stream)).toEqual([{ big: 1n }]);
    expect(tape.items[0]?.item).toEqual({ big: '1' });
    expect(losses).toHaveLength(1);
  });

  it('cancels the source when the reader cancels', async () => {
    const cancel = vi.fn<(reason?: unknown) => void>();
    const source = new ReadableStream<number>({ pull: (controller) => controller.enqueue(1), cancel });
    const reader = recordTape(source, { dialect: 'x' }).stream.getReader();
    await reader.read();
    await reader.cancel('enough');
    await vi.waitFor(() => expect(cancel).toHaveBeenCalledExactlyOnceWith('enough'));
  });
});
