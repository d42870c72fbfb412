import type { EventOf, FinishReason, Json, JsonObject, Meta, Outcome, Question, Usage } from '@intertie/core';
import type { Waiting } from '@intertie/core/store';
import { readMetadata } from './decode-agents.ts';
import { readMeta } from '../shared/event-meta.ts';
import { defined, asFields, isFields, asText, type Fields } from '../shared/read-fields.ts';

/** Decodes the terminal event of a run. `pending`: calls of client tools without a result. */
export function decodeRunEnd(
  event: Fields,
  pending: readonly string[],
  questions: readonly Question[],
): EventOf<'run-end'> {
  const { ended } = readMetadata(event);
  const extra = asFields(ended) as JsonObject;
  // If our encoder wrote the metadata, its other keys are for other clients and not provider metadata.
  const meta = isFields(ended) ? (extra.providerMetadata as Meta | undefined) : readMeta(event);
  const usage = readUsage(event.usage);
  const fields = {
    ...defined({
      finishReason: extra.finishReason as FinishReason | undefined,
      rawFinishReason: asText(extra.rawFinishReason),
    }),
    ...(isFields(meta) && { providerMetadata: meta }),
    ...(usage.length > 0 && { usage }),
    ...(event.result !== undefined && { result: event.result as Json }),
  };
  return { type: 'run-end', ...fields, ...readOutcome(event, extra, questions, pending) };
}

function readOutcome(
  event: Fields,
  extra: JsonObject,
  questions: readonly Question[],
  pending: readonly string[],
): Outcome {
  const code = asText(event.code);
  const isStopped = code?.toLowerCase() === 'aborted' || code?.toLowerCase() === 'abort';
  const outcome = asFields(event.outcome);
  if (outcome.type === 'cancelled' || (event.type === 'RUN_ERROR' && isStopped)) {
    const by = extra.by === 'user' || extra.by === 'system' ? extra.by : undefined;
    return { outcome: 'aborted', ...(by && { by }), ...defined({ reason: asText(extra.reason) }) };
  }
  if (event.type === 'RUN_ERROR') {
    const fault = asFields(extra.error);
    // Our encoder adds a code to errors without one, so the original code takes precedence.
    const original = typeof fault.message === 'string' ? { code: asText(fault.code) } : { code };
    const retryable = typeof fault.retryable === 'boolean' ? fault.retryable : undefined;
    const message = asText(event.message) ?? 'The agent failed without an error message.';
    return { outcome: 'error', error: { message, ...defined({ ...original, retryable }) } };
  }
  if (extra.outcome === 'complete') return { outcome: 'complete' };
  if (extra.outcome === 'paused' && Array.isArray(extra.waitingFor)) {
    return { outcome: 'paused', waitingFor: extra.waitingFor as Waiting[] };
  }
  const named = Array.isArray(outcome.pendingToolCallIds) ? outcome.pendingToolCallIds.map(String) : pending;
  const waitingFor: Waiting[] = [
    ...named.map((toolCallId): Waiting => ({ type: 'tool', toolCallId })),
    ...questions.map(({ questionId }): Waiting => ({ type: 'question', questionId })),
  ];
  return waitingFor.length > 0 ? { outcome: 'paused', waitingFor } : { outcome: 'complete' };
}

function readUsage(usage: unknown): Usage[] {
  return (Array.isArray(usage) ? usage : []).filter(isFields).map((used): Usage => {
    const count = (key: string): number | undefined => (typeof used[key] === 'number' ? used[key] : undefined);
    return defined({
      provider: asText(used.provider),
      model: asText(used.model),
      inputTokens: count('inputTokens'),
      outputTokens: count('outputTokens'),
      totalTokens: count('totalTokens'),
      reasoningTokens: count('reasoningTokens'),
      cacheReadTokens: count('cachedInputTokens'),
      cacheWriteTokens: count('cacheWriteInputTokens'),
    });
  });
}
