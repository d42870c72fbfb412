// The program of a user with TypeScript 5.9. It is compiled, not run.
import { canonical, check, type CheckReport } from '@intertie/conformance';
import {
  compose,
  foldEvents,
  MessageList,
  seal,
  transcode,
  type AgentEvent,
  type AgentSource,
  type CanonicalMessage,
  type Codec,
  type Loss,
  type RunInput,
} from '@intertie/core';

const text: Codec<AgentEvent, string> = {
  feed(event, emit) {
    // The type narrows the union.
    if (event.type === 'text-delta') emit(event.delta);
  },
  end() {},
};

export function deltas(run: RunInput, events: AgentEvent[], losses: Loss[]): string[] {
  const sealed = seal(run, (loss) => losses.push(loss));
  return transcode(compose(sealed, text), events, { reason: 'aborted', by: 'user' });
}

export function lastText(events: Iterable<AgentEvent>): string {
  const message: CanonicalMessage | undefined = foldEvents(events);
  const part = message?.content.parts.at(-1);
  return part?.type === 'text' ? part.text : '';
}

export async function watch(source: AgentSource, run: RunInput, signal: AbortSignal): Promise<CanonicalMessage[]> {
  const list = new MessageList({ messages: run.history });
  const liveAnswers = (async function* () {})();
  const reader = source.run(run, { signal, barrier: async () => {}, liveAnswers }).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) list.feed(next.value);
  return list.messages;
}

export const report: CheckReport = check(canonical, [{ type: 'run-end', outcome: 'complete' }]);

// @ts-expect-error events have known types only
export const unknown: AgentEvent = { type: 'text-begin', id: 'r1:1' };
