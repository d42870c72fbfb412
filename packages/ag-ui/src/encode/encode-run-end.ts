import type { Interrupt, RunFinishedOutcome } from '@ag-ui/core';
import type { EventOf, FinishReason, Json, JsonObject } from '@intertie/core';
import { omit } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import type { AGUIFeatures } from '../shared/ag-ui-version.ts';
import type { AGUIEncoderOptions } from './ag-ui-encoder-options.ts';
import { encodeUsage } from './encode-usage.ts';
import { metadataKey } from '../shared/intertie-metadata.ts';
import { withoutData } from '../shared/without-data.ts';

export interface RunEndContext {
  /** Absent if the run never started. */
  run: { threadId: string; runId: string } | undefined;
  features: AGUIFeatures;
  interrupts: Interrupt[];
  /** Form of the interrupts. See `AGUIEncoderOptions`. */
  form: NonNullable<AGUIEncoderOptions['interrupts']>;
  /** Calls without a result. */
  unanswered: readonly string[];
  result: Json | undefined;
}

/** Name of the custom event that LangGraph clients read an interrupt from. */
const interruptEventName = 'on_interrupt';

/** Encodes the end of a run: its terminal event, after the custom events of the interrupts if the client expects them. */
export function encodeRunEnd(event: EventOf<'run-end'>, context: RunEndContext): AGUIEvent[] {
  if (context.form === 'outcome') return [encodeTerminal(event, context)];
  const asked = context.interrupts.map((value): AGUIEvent => ({ type: 'CUSTOM', name: interruptEventName, value }));
  return [...asked, encodeTerminal(event, { ...context, interrupts: [], isAsked: asked.length > 0 })];
}

function encodeTerminal(
  event: EventOf<'run-end'>,
  { run, features, interrupts, unanswered, result, isAsked = false }: RunEndContext & { isAsked?: boolean },
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
      return { ...finished, ...resultField, ...toSuccess([], unanswered, features) };
    case 'paused': {
      const [first, ...others] = interrupts;
      if (first) return { ...finished, ...resultField, outcome: { type: 'interrupt', interrupts: [first, ...others] } };
      if (isAsked) return { ...finished, ...resultField };
      return { ...finished, ...resultField, ...toSuccess(event.waitingFor, unanswered, features) };
    }
    case 'aborted':
      // Clients before 1.0 fail on `cancelled` and get an error with a code instead.
      if (features.v1) return { ...finished, outcome: { type: 'cancelled' } };
      return { type: 'RUN_ERROR', message: event.reason ?? 'The run was stopped.', code: 'ABORTED', ...fields };
  }
}

/**
 * Returns the outcome of a run without interrupts, with the calls that the client must answer: those that the run waits for,
 * and those without a result. Clients before 1.0 take `success` for the end of the conversation and never run their tools.
 */
function toSuccess(
  waitingFor: readonly Waiting[],
  unanswered: readonly string[],
  { v1 }: AGUIFeatures,
): { outcome?: RunFinishedOutcome } {
  const waiting = waitingFor.flatMap((one) => (one.type === 'tool' ? [one.toolCallId] : []));
  const pendingToolCallIds = [...new Set([...waiting, ...unanswered])];
  const isWaiting = waitingFor.length > 0 || pendingToolCallIds.length > 0;
  if (isWaiting && !v1) return {};
  return { outcome: { type: 'success', ...(pendingToolCallIds.length > 0 && { pendingToolCallIds }) } };
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
