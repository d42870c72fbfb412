import type { Interrupt } from '@ag-ui/core';
import type { EventOf, FinishReason, Json, JsonObject } from '@intertie/core';
import { omit } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import type { AGUIFeatures } from '../shared/ag-ui-version.ts';
import { encodeUsage } from './encode-usage.ts';
import { metadataKey } from '../shared/intertie-metadata.ts';
import { withoutData } from '../shared/without-data.ts';

export interface RunEndContext {
  /** Absent if the run never started. */
  run: { threadId: string; runId: string } | undefined;
  features: AGUIFeatures;
  interrupts: Interrupt[];
  /** Calls without a result. */
  unanswered: readonly string[];
  result: Json | undefined;
}

/** Encodes the terminal event of a run. */
export function encodeRunEnd(
  event: EventOf<'run-end'>,
  { run, features, interrupts, unanswered, result }: RunEndContext,
): AGUIEvent {
  const usage = encodeUsage(event.usage, features);
  const metadata = toEndMetadata(event);
  const fields = { ...(usage && { usage }), metadata };
  if (event.outcome === 'error' || run === undefined) {
    const { message, code = 'STREAM_ERROR' } =
      event.outcome === 'error' ? event.error : { message: 'The run ended before it started.' };
    return { type: 'RUN_ERROR', message, code, ...fields };
  }
  const { threadId, runId } = run;
  const finished = { type: 'RUN_FINISHED' as const, threadId, runId, ...fields };
  const resultField = result === undefined || result === null ? {} : { result };
  switch (event.outcome) {
    case 'complete':
      return { ...finished, ...resultField, outcome: { type: 'success', ...toPendingCalls([], unanswered, features) } };
    case 'paused': {
      const [first, ...others] = interrupts;
      if (first) return { ...finished, ...resultField, outcome: { type: 'interrupt', interrupts: [first, ...others] } };
      return {
        ...finished,
        ...resultField,
        outcome: { type: 'success', ...toPendingCalls(event.waitingFor, unanswered, features) },
      };
    }
    case 'aborted':
      // Clients before 1.0 fail on `cancelled` and get an error with a code instead.
      if (features.v1) return { ...finished, outcome: { type: 'cancelled' } };
      return { type: 'RUN_ERROR', message: event.reason ?? 'The run was stopped.', code: 'ABORTED', ...fields };
  }
}

/** Returns the calls that the client must answer: those that the run waits for, and those without a result. */
function toPendingCalls(
  waitingFor: readonly Waiting[],
  unanswered: readonly string[],
  { v1 }: AGUIFeatures,
): { pendingToolCallIds?: string[] } {
  const waiting = waitingFor.flatMap((one) => (one.type === 'tool' ? [one.toolCallId] : []));
  const pendingToolCallIds = [...new Set([...waiting, ...unanswered])];
  return v1 && pendingToolCallIds.length > 0 ? { pendingToolCallIds } : {};
}

/** Outcome for our decoder, and the finish reason in the field that TanStack clients read. */
function toEndMetadata(event: EventOf<'run-end'>): JsonObject {
  const ended = omit(event, 'type', 'at', 'origin', 'usage', 'resume', 'result');
  const { finishReason } = event;
  return {
    [metadataKey]: { ended: withoutData(ended) },
    ...(finishReason && { tanstack: { finishReason: tanstackReason(finishReason) } }),
  };
}

function tanstackReason(reason: FinishReason): string {
  return reason.replaceAll('-', '_');
}
