// A program as a user with TypeScript 5.9 writes it. It is compiled, not run.
import {
  compose,
  transcode,
  type AgentEvent,
  type AgentSource,
  type CanonicalMessage,
  type Codec,
} from '@intertie/core';

const text: Codec<AgentEvent, string> = {
  feed(event, emit) {
    // The union narrows by its type.
    if (event.type === 'text-delta') emit(event.delta);
  },
  end() {},
};
const lengths: Codec<string, number> = { feed: (delta, emit) => emit(delta.length), end() {} };

export const counts: number[] = transcode(compose(text, lengths), [
  { type: 'text-start', id: 'r1:1' },
  { type: 'text-delta', id: 'r1:1', delta: 'Hello' },
  { type: 'text-end', id: 'r1:1' },
]);

export function lastWords(messages: CanonicalMessage[]): string {
  const part = messages.at(-1)?.content.parts.at(-1);
  return part?.type === 'text' ? part.text : '';
}

export const silent: AgentSource = {
  name: 'silent',
  pauses: 'replay',
  run: () => new ReadableStream<AgentEvent>({ start: (controller) => controller.close() }),
};

// @ts-expect-error an event has a type that we know
export const unknown: AgentEvent = { type: 'text-begin', id: 'r1:1' };
