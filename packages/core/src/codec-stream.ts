import type { Codec } from './codec.ts';

/**
 * A codec as a web stream. The end of the input is `eof`; where either side gives up, the codec is told `aborted` and what
 * it still says is dropped. A platform that does not call `cancel` yet only drops the codec, which holds nothing but memory.
 */
export function toTransformStream<In, Out>(codec: Codec<In, Out>): TransformStream<In, Out> {
  const transformer: Transformer<In, Out> & { cancel(): void } = {
    transform: (input, controller) => codec.feed(input, (out) => controller.enqueue(out)),
    flush: (controller) => codec.end({ reason: 'eof' }, (out) => controller.enqueue(out)),
    cancel: () => codec.end({ reason: 'aborted' }, () => {}),
  };
  return new TransformStream(transformer);
}
