import type { AgentEvent, Codec, RunInput } from '@intertie/core';
import { readMetadata } from './decode-agents.ts';
import { asFields, isFields, asNonEmptyText } from '../shared/read-fields.ts';

/** Returns the message id that an Intertie agent declares in RUN_STARTED. */
export function readMessageId(event: unknown): string | undefined {
  return isFields(event) && event.type === 'RUN_STARTED'
    ? asNonEmptyText(readMetadata(asFields(event)).messageId)
    : undefined;
}

/**
 * Gives a new answer the message id that the agent stores it under, so that a page which resumes it or reads the agent's history
 * recognises it. Therefore the run starts with the agent's first event. Continuations, and answers of agents that declare no id,
 * keep their own.
 */
export function adoptMessageId(
  run: RunInput,
  createCodec: (run: RunInput) => Codec<unknown, AgentEvent>,
): Codec<unknown, AgentEvent> {
  if (run.message !== undefined) return createCodec(run);
  const isFree = (id: string): boolean => run.history.every((message) => message.id !== id);
  let codec: Codec<unknown, AgentEvent> | undefined;
  const start = (first?: unknown): Codec<unknown, AgentEvent> => {
    const messageId = readMessageId(first);
    return createCodec(messageId !== undefined && isFree(messageId) ? { ...run, messageId } : run);
  };
  return {
    feed: (event, emit) => (codec ??= start(event)).feed(event, emit),
    flush: (emit) => codec?.flush?.(emit),
    end: (end, emit) => (codec ??= start()).end(end, emit),
  };
}
