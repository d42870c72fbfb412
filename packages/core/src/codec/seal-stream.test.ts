import { describe, expect, it } from 'vitest';
import { readAll } from '../../test/read-all.ts';
import { runInput } from '../../test/run-input.ts';
import { compose, type Codec } from './codec.ts';
import type { AgentEvent } from '../event/event.ts';
import type { Loss } from '../json/loss.ts';
import type { RunInput } from '../event/run-input.ts';
import { sealStream } from './seal-stream.ts';
import { seal } from './seal.ts';
import { copySealedMark } from './sealed-stream.ts';
import { sourceStream } from './source-stream.ts';
import { toReadableStream } from '../stream/to-readable-stream.ts';

const ignore = (): void => undefined;
const passThrough = (): Codec<AgentEvent, AgentEvent> => ({ feed: (event, emit) => emit(event), end: ignore });
const text: AgentEvent[] = [
  { type: 'text-start', id: 'a' },
  { type: 'text-delta', id: 'a', delta: 'Hello' },
];

function sealedSource(run: RunInput, events: AgentEvent[] = text): ReadableStream<AgentEvent> {
  return sourceStream(toReadableStream(events), compose(passThrough(), seal(run, ignore)));
}

describe('sealStream', () => {
  it('returns a stream that is already sealed for the run', () => {
    const run = runInput();
    const events = sealedSource(run);
    expect(sealStream(events, run, { onLoss: ignore }).events).toBe(events);
  });

  it('seals an unsealed stream: run-start first, one run-end last', async () => {
    const run = runInput();
    const { events } = sealStream(toReadableStream(text), run, { onLoss: ignore });
    const types = (await readAll(events)).map(({ type }) => type);
    expect(types).toEqual(['run-start', 'text-start', 'text-delta', 'text-end', 'run-end']);
  });

  it('seals a stream again that was sealed for another run', async () => {
    const run = runInput();
    const other = sealedSource({ ...run, runId: 'other' });
    const losses: Loss[] = [];
    const [start] = await readAll(sealStream(other, run, { onLoss: (loss) => losses.push(loss) }).events);
    expect(start).toMatchObject({ type: 'run-start', runId: run.runId });
    expect(losses).toEqual([]);
  });

  it('does not treat a codec that wraps a seal as sealed', () => {
    const run = runInput();
    const sealed = compose(passThrough(), seal(run, ignore));
    for (const codec of [{ ...sealed }, compose(sealed, passThrough())]) {
      const events = sourceStream(toReadableStream(text), codec);
      expect(sealStream(events, run, { onLoss: ignore }).events).not.toBe(events);
    }
  });

  it.each(['sealed', 'unsealed'])('ends a %s stream early, with open parts closed', async (kind) => {
    const run = runInput();
    const input = new ReadableStream<AgentEvent>({
      start: (controller) => text.forEach((event) => controller.enqueue(event)),
    });
    const source = kind === 'sealed' ? sourceStream(input, seal(run, ignore)) : input;
    const { events, end } = sealStream(source, run, { onLoss: ignore });
    const reader = events.getReader();
    for (const type of ['run-start', 'text-start', 'text-delta']) {
      expect((await reader.read()).value).toMatchObject({ type });
    }
    end({ reason: 'aborted', by: 'system' });
    end({ reason: 'eof' });
    reader.releaseLock();
    expect(await readAll(events)).toMatchObject([{ type: 'text-end' }, { type: 'run-end', outcome: 'aborted' }]);
  });

  it('recognizes a marked wrapper of a sealed stream', () => {
    const run = runInput();
    const events = sealedSource(run);
    const wrapper = new ReadableStream<AgentEvent>();
    copySealedMark(events, wrapper);
    expect(sealStream(wrapper, run, { onLoss: ignore }).events).toBe(wrapper);
  });
});
