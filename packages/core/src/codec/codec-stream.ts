import type { Codec } from './codec.ts';

/**
 * Wraps a codec in a web transform stream. The end of the input is `eof`. If the reader cancels or the input fails, the codec gets
 * no end, because nothing reads its output. Use `sourceStream` for a codec that must end its run in every case.
 */
export function toTransformStream<In, Out>(codec: Codec<In, Out>): TransformStream<In, Out> {
  return new TransformStream<In, Out>({
    transform: (input, controller) => codec.feed(input, (out) => controller.enqueue(out)),
    flush: (controller) => codec.end({ reason: 'eof' }, (out) => controller.enqueue(out)),
  });
}
