import type { Interrupt } from '@ag-ui/core';
import type { EventOf, FinishReason, Json, JsonObject } from '@intertie/core';
import type { Waiting } from '@intertie/core/store';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import type { AGUIFeatures } from '../shared/ag-ui-version.ts';
import { encodeUsage } from './encode-usage.ts';
import { slotKey } from '../shared/intertie-metadata.ts';
import { withoutData } from '../shared/without-data.ts';

export interface RunEndContext {
  /** Absent: it never started. */
  run: { threadId: string; runId: string } | undefined;
  features: AGUIFeatures;
  interrupts: Interrupt[];
  /** The calls that were made and not answered. */
  left: readonly string[];
  result: Json | undefined;
}

/** The one terminal event of a run. */
export function encodeRunEnd(
  event: EventOf<'run-end'>,
  { run, features, interrupts, left, result }: RunEndContext,
): AGUIEvent {
  const usage = encodeUsage(event.usage, features);
  const metadata = metadataOf(event);
  const more = { ...(usage && { usage }), metadata };
  if (event.outcome === 'error' || run === undefined) {
    const { message, code = 'STREAM_ERROR' } =
      event.outcome === 'error' ? event.error : { message: 'The run ended before it began.' };
    return { type: 'RUN_ERROR', message, code, ...more };
  }
  const { threadId, runId } = run;
  const finished = { type: 'RUN_FINISHED' as const, threadId, runId, ...more };
  const given = result === undefined || result === null ? {} : { result };
  switch (event.outcome) {
    case 'complete':
      return { ...finished, ...given, outcome: { type: 'success', ...pendingOf([], left, features) } };
    case 'paused': {
      const [first, ...others] = interrupts;
      if (first) return { ...finished, ...given, outcome: { type: 'interrupt', interrupts: [first, ...others] } };
      return { ...finished, ...given, outcome: { type: 'success', ...pendingOf(event.waitingFor, left, features) } };
    }
    case 'aborted':
      // A client before 1.0 fails on the outcome; to it, what was stopped is an error with a name.
      if (features.v1) return { ...finished, outcome: { type: 'cancelled' } };
      return { type: 'RUN_ERROR', message: event.reason ?? 'The run was stopped.', code: 'ABORTED', ...more };
  }
}

/** The calls that the client is to answer: those that the run waits for, and those that it has left to it. */
function pendingOf(
  waitingFor: readonly Waiting[],
  left: readonly string[],
  { v1 }: AGUIFeatures,
): { pendingToolCallIds?: string[] } {
  const waiting = waitingFor.flatMap((one) => (one.type === 'tool' ? [one.toolCallId] : []));
  const pendingToolCallIds = [...new Set([...waiting, ...left])];
  return v1 && pendingToolCallIds.length > 0 ? { pendingToolCallIds } : {};
}

/** How the run ended, for our own decoder, and the finish reason where the client of TanStack looks for it. */
function metadataOf(event: EventOf<'run-end'>): JsonObject {
  const { type: _, at: __, origin: ___, usage: ____, resume: _____, result: ______, ...ended } = event;
  const { finishReason } = event;
  return {
    [slotKey]: { ended: withoutData(ended) },
    ...(finishReason && { tanstack: { finishReason: tanstackReason(finishReason) } }),
  };
}

function tanstackReason(reason: FinishReason): string {
  return reason.replaceAll('-', '_');
}
