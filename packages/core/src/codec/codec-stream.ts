import type { Codec } from './codec.ts';

/**
 * A codec as a web stream. The end of the input is `eof`. Where the reader leaves or the input fails, the codec is dropped
 * without an end: nobody could hear what it says, and only a source (see `sourceStream`) has to end all the same.
 */
export function toTransformStream<In, Out>(codec: Codec<In, Out>): TransformStream<In, Out> {
  return new TransformStream<In, Out>({
    transform: (input, controller) => codec.feed(input, (out) => controller.enqueue(out)),
    flush: (controller) => codec.end({ reason: 'eof' }, (out) => controller.enqueue(out)),
  });
}
