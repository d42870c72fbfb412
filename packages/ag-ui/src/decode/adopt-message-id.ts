import type { AgentEvent, Codec, RunInput } from '@intertie/core';
import { slotOf } from './decode-agents.ts';
import { asFields, isFields, asNonEmptyText } from '../shared/read-fields.ts';

/** The message that a run writes, as an agent of ours calls it at the run's start. */
export function messageIdOf(event: unknown): string | undefined {
  return isFields(event) && event.type === 'RUN_STARTED'
    ? asNonEmptyText(slotOf(asFields(event)).messageId)
    : undefined;
}

/**
 * A new answer under the id that the agent keeps it by, so that a page which comes back to it, or reads the agent's history,
 * knows it again. The run therefore begins with the agent's first word. What goes on keeps its id, and so does the answer of
 * an agent that does not say one.
 */
export function adoptMessageId(
  run: RunInput,
  codecOf: (run: RunInput) => Codec<unknown, AgentEvent>,
): Codec<unknown, AgentEvent> {
  if (run.message !== undefined) return codecOf(run);
  const isFree = (id: string): boolean => run.history.every((message) => message.id !== id);
  let begun: Codec<unknown, AgentEvent> | undefined;
  const begin = (first?: unknown): Codec<unknown, AgentEvent> => {
    const said = messageIdOf(first);
    return codecOf(said !== undefined && isFree(said) ? { ...run, messageId: said } : run);
  };
  return {
    feed: (event, emit) => (begun ??= begin(event)).feed(event, emit),
    flush: (emit) => begun?.flush?.(emit),
    end: (end, emit) => (begun ??= begin()).end(end, emit),
  };
}
