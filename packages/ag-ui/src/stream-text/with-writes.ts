import type { AgentEvent, Codec, Emit, RunInput } from '@intertie/core';
import { wrote } from './merge-writes.ts';
import { isFields } from '../shared/read-fields.ts';
import type { WriteQueue, Written } from './write-queue.ts';

/** The first turn, in parts and in canonical events. */
const turns: ReadonlySet<unknown> = new Set(['start-step', 'step-start']);
const results: ReadonlySet<unknown> = new Set(['tool-result', 'tool-error', 'tool-output-denied']);

/**
 * A decoder that also gives what was written: before the part that comes next, and what was written during a call between
 * that call and its result. Tools run ahead of a slow reader, up to the end of the run. Put `seal` behind it, so that
 * nothing written breaks what holds of a run.
 */
export function withWrites(
  decoder: Codec<unknown, AgentEvent>,
  queue: WriteQueue,
  run: RunInput,
): Codec<unknown, AgentEvent> {
  const called = new Set(callsOf(run));
  const held = new Map<string, AgentEvent[]>();
  // What was called before this run and runs now is not called again; and it may have another id to the provider.
  let isBefore = run.message !== undefined;

  const tell = ({ event, toolCallId }: Written, emit: Emit<AgentEvent>): void => {
    if (toolCallId === undefined || called.has(toolCallId)) return emit(event);
    const events = held.get(toolCallId);
    if (events) events.push(event);
    else held.set(toolCallId, [event]);
  };
  const tellAll = (emit: Emit<AgentEvent>): void => {
    for (const written of queue.drain()) tell(written, emit);
  };
  const release = (toolCallId: string, emit: Emit<AgentEvent>): void => {
    const events = held.get(toolCallId) ?? [];
    held.delete(toolCallId);
    for (const event of events) emit(event);
  };
  const releaseAll = (emit: Emit<AgentEvent>): void => {
    for (const toolCallId of held.keys()) release(toolCallId, emit);
  };
  /** Emits what is left. The queue is closed even if `emit` throws: nothing is emitted after the run's end. */
  const last = (emit: Emit<AgentEvent>): void => {
    try {
      tellAll(emit);
      releaseAll(emit);
    } finally {
      queue.close();
    }
  };

  return {
    feed(part, emit) {
      tellAll(emit);
      if (part === wrote) return;
      const { type, toolCallId: id } = isFields(part) ? part : {};
      const toolCallId = typeof id === 'string' ? id : undefined;
      if (isBefore && turns.has(type)) {
        isBefore = false;
        releaseAll(emit);
      } else if (toolCallId !== undefined && results.has(type)) release(toolCallId, emit);
      decoder.feed(part, (event) => {
        if (event.type === 'run-end') last(emit);
        emit(event);
      });
      if (type !== 'tool-call' || toolCallId === undefined) return;
      called.add(toolCallId);
      release(toolCallId, emit);
    },
    flush: (emit) => decoder.flush?.(emit),
    end(end, emit) {
      last(emit);
      decoder.end(end, emit);
    },
  };
}

function callsOf({ message }: RunInput): string[] {
  return (message?.parts ?? []).flatMap((part) => (part.type === 'tool-invocation' ? [part.toolCallId] : []));
}
