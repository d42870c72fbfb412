import type { AgentEvent, Codec, Emit, RunInput } from '@intertie/core';
import { writeSignal } from './merged-parts.ts';
import { isFields } from '../shared/read-fields.ts';
import type { WriteQueue, Written } from './write-queue.ts';

/** Start of a step, as an AI SDK part and as a canonical event. */
const stepStarts: ReadonlySet<unknown> = new Set(['start-step', 'step-start']);
const resultTypes: ReadonlySet<unknown> = new Set(['tool-result', 'tool-error', 'tool-output-denied']);

/**
 * Wraps a decoder to emit written events too: before the next part, or, if written during a call, between that call and its
 * result. Tools may run far ahead of a slow reader. Put `seal` behind it, so that written events cannot break the stream
 * invariants.
 */
export function withWrites(
  decoder: Codec<unknown, AgentEvent>,
  queue: WriteQueue,
  run: RunInput,
): Codec<unknown, AgentEvent> {
  const startedCalls = new Set(getCallIds(run));
  const heldEvents = new Map<string, AgentEvent[]>();
  // Calls of an earlier run that are executed now are not started again, and the provider may use another id for them.
  let isBeforeFirstStep = run.message !== undefined;

  const emitWritten = ({ event, toolCallId }: Written, emit: Emit<AgentEvent>): void => {
    if (toolCallId === undefined || startedCalls.has(toolCallId)) return emit(event);
    const events = heldEvents.get(toolCallId);
    if (events) events.push(event);
    else heldEvents.set(toolCallId, [event]);
  };
  const emitAllWritten = (emit: Emit<AgentEvent>): void => {
    for (const written of queue.drain()) emitWritten(written, emit);
  };
  const release = (toolCallId: string, emit: Emit<AgentEvent>): void => {
    const events = heldEvents.get(toolCallId) ?? [];
    heldEvents.delete(toolCallId);
    for (const event of events) emit(event);
  };
  const releaseAll = (emit: Emit<AgentEvent>): void => {
    for (const toolCallId of heldEvents.keys()) release(toolCallId, emit);
  };
  /** Emits the remaining events. The queue is closed even if `emit` throws: nothing is emitted after the end of the run. */
  const finish = (emit: Emit<AgentEvent>): void => {
    try {
      emitAllWritten(emit);
      releaseAll(emit);
    } finally {
      queue.close();
    }
  };

  return {
    feed(part, emit) {
      emitAllWritten(emit);
      if (part === writeSignal) return;
      const { type, toolCallId: id } = isFields(part) ? part : {};
      const toolCallId = typeof id === 'string' ? id : undefined;
      if (isBeforeFirstStep && stepStarts.has(type)) {
        isBeforeFirstStep = false;
        releaseAll(emit);
      } else if (toolCallId !== undefined && resultTypes.has(type)) release(toolCallId, emit);
      decoder.feed(part, (event) => {
        if (event.type === 'run-end') finish(emit);
        emit(event);
      });
      if (type !== 'tool-call' || toolCallId === undefined) return;
      startedCalls.add(toolCallId);
      release(toolCallId, emit);
    },
    flush: (emit) => decoder.flush?.(emit),
    end(end, emit) {
      finish(emit);
      decoder.end(end, emit);
    },
  };
}

function getCallIds({ message }: RunInput): string[] {
  return (message?.parts ?? []).flatMap((part) => (part.type === 'tool-invocation' ? [part.toolCallId] : []));
}
