import type * as ai6 from 'ai';
import type * as ai7 from 'ai-7';
import { describe, expectTypeOf, it } from 'vitest';
import type { UIMessageChunk, UIMessageChunk6, UIMessageChunkOf } from './ui-message-chunk.ts';

/* Checked by the compiler: our chunks are those of `ai`, in both directions. */
describe('UI message chunk types', () => {
  it('assigns chunks of 6 to both majors and from ai 6', () => {
    expectTypeOf<UIMessageChunk6>().toExtend<ai6.UIMessageChunk>();
    expectTypeOf<UIMessageChunk6>().toExtend<ai7.UIMessageChunk>();
    expectTypeOf<ai6.UIMessageChunk>().toExtend<UIMessageChunk6>();
  });

  it('assigns chunks of 7 to ai 7 and from both majors', () => {
    expectTypeOf<UIMessageChunk>().toExtend<ai7.UIMessageChunk>();
    expectTypeOf<ai7.UIMessageChunk>().toExtend<UIMessageChunk>();
    expectTypeOf<ai6.UIMessageChunk>().toExtend<UIMessageChunk>();
    expectTypeOf<UIMessageChunk6>().toExtend<UIMessageChunk>();
  });

  it('narrows chunks by version', () => {
    expectTypeOf<UIMessageChunkOf<6>>().toEqualTypeOf<UIMessageChunk6>();
    expectTypeOf<UIMessageChunkOf<7>>().toEqualTypeOf<UIMessageChunk>();
  });

  it('creates streams that the transports of both majors accept', () => {
    type Sent<Chunk> = Promise<ReadableStream<Chunk>>;
    expectTypeOf<Sent<UIMessageChunk6>>().toExtend<ReturnType<ai6.ChatTransport<ai6.UIMessage>['sendMessages']>>();
    expectTypeOf<Sent<UIMessageChunk6>>().toExtend<ReturnType<ai7.ChatTransport<ai7.UIMessage>['sendMessages']>>();
    expectTypeOf<Sent<UIMessageChunk>>().toExtend<ReturnType<ai7.ChatTransport<ai7.UIMessage>['sendMessages']>>();
  });
});
