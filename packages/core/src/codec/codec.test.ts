import { expect, it } from 'vitest';
import { compose, transcode, type Codec } from './codec.ts';

/** Buffers every item until the next one, a flush or the end. */
const buffering = (name: string): Codec<string, string> => {
  let held: string[] = [];
  const flush = (emit: (out: string) => void): void => {
    for (const item of held) emit(`${name}(${item})`);
    held = [];
  };
  return {
    feed(input, emit) {
      flush(emit);
      held.push(input);
    },
    flush,
    end(end, emit) {
      flush(emit);
      emit(`${name}:${end.reason}`);
    },
  };
};

it('composes feed, flush and end in order', () => {
  const codec = compose(buffering('a'), buffering('b'));
  const out: string[] = [];
  const emit = (item: string): void => void out.push(item);
  codec.feed('1', emit);
  codec.flush?.(emit);
  expect(out).toEqual(['b(a(1))']);
  codec.feed('2', emit);
  codec.end({ reason: 'aborted' }, emit);
  expect(out.slice(1)).toEqual(['b(a(2))', 'b(a:aborted)', 'b:aborted']);
});

it('returns the output of a codec for a list of inputs', () => {
  expect(transcode(buffering('a'), ['1', '2'])).toEqual(['a(1)', 'a(2)', 'a:eof']);
});
