import type { EventOf, FinishReason, Json, JsonObject, Meta, Outcome, Question, Usage } from '@intertie/core';
import type { Waiting } from '@intertie/core/store';
import { slotOf } from './decode-agents.ts';
import { metaOf } from '../shared/event-meta.ts';
import { decodeInterruptId } from '../shared/interrupt.ts';
import { defined, asFields, isFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

export type DecodedEnd = { questions: Question[]; end: EventOf<'run-end'> };

/** What the terminal event of a run says. `pending`: the client's calls that nobody has answered. */
export function decodeRunEnd(
  event: Fields,
  pending: readonly string[],
  callIdOf: (wireId: string) => string,
): DecodedEnd {
  const { ended } = slotOf(event);
  const kept = asFields(ended) as JsonObject;
  // What is beside our own word there is ours too, for other clients.
  const meta = isFields(ended) ? (kept.providerMetadata as Meta | undefined) : metaOf(event);
  const usage = usageOf(event.usage);
  const more = {
    ...defined({
      finishReason: kept.finishReason as FinishReason | undefined,
      rawFinishReason: asText(kept.rawFinishReason),
    }),
    ...(isFields(meta) && { providerMetadata: meta }),
    ...(usage.length > 0 && { usage }),
    ...(event.result !== undefined && { result: event.result as Json }),
  };
  const questions = interruptsOf(event).map((interrupt) => questionOf(interrupt, callIdOf));
  return { questions, end: { type: 'run-end', ...more, ...outcomeOf(event, kept, questions, pending) } };
}

function outcomeOf(
  event: Fields,
  kept: JsonObject,
  questions: readonly Question[],
  pending: readonly string[],
): Outcome {
  const code = asText(event.code);
  const isStopped = code?.toLowerCase() === 'aborted' || code?.toLowerCase() === 'abort';
  const outcome = asFields(event.outcome);
  if (outcome.type === 'cancelled' || (event.type === 'RUN_ERROR' && isStopped)) {
    const by = kept.by === 'user' || kept.by === 'system' ? kept.by : undefined;
    return { outcome: 'aborted', ...(by && { by }), ...defined({ reason: asText(kept.reason) }) };
  }
  if (event.type === 'RUN_ERROR') {
    const said = asFields(kept.error);
    // The code that we put where there was none is not said back.
    const fault = typeof said.message === 'string' ? { code: asText(said.code) } : { code };
    const retryable = typeof said.retryable === 'boolean' ? said.retryable : undefined;
    const message = asText(event.message) ?? 'The agent failed and did not say how.';
    return { outcome: 'error', error: { message, ...defined({ ...fault, retryable }) } };
  }
  if (kept.outcome === 'complete') return { outcome: 'complete' };
  if (kept.outcome === 'paused' && Array.isArray(kept.waitingFor)) {
    return { outcome: 'paused', waitingFor: kept.waitingFor as Waiting[] };
  }
  const named = Array.isArray(outcome.pendingToolCallIds) ? outcome.pendingToolCallIds.map(String) : pending;
  const waitingFor: Waiting[] = [
    ...named.map((toolCallId): Waiting => ({ type: 'tool', toolCallId })),
    ...questions.map(({ questionId }): Waiting => ({ type: 'question', questionId })),
  ];
  return waitingFor.length > 0 ? { outcome: 'paused', waitingFor } : { outcome: 'complete' };
}

function interruptsOf(event: Fields): Fields[] {
  const { interrupts } = asFields(event.outcome);
  return Array.isArray(interrupts)
    ? interrupts.filter(isFields).filter(({ id }) => asNonEmptyText(id) !== undefined)
    : [];
}

/** A foreign agent's interrupt: about a call it is an approval, else it asks for a value. */
function questionOf(interrupt: Fields, callIdOf: (wireId: string) => string): Question {
  const question = decodeInterruptId(String(interrupt.id));
  const wireId = asNonEmptyText(interrupt.toolCallId);
  const reason = question.reason ?? asText(interrupt.reason);
  // Ours can be made again of the question; a foreign one is answered under the id that it came with.
  const isOurs = question.questionId !== interrupt.id;
  return {
    ...question,
    ...(!isOurs && { providerMetadata: { 'ag-ui': { interruptId: question.questionId } } }),
    ...(question.toolCallId === undefined &&
      wireId !== undefined && { kind: 'approval', toolCallId: callIdOf(wireId) }),
    ...defined({ reason, message: asText(interrupt.message), expiresAt: asText(interrupt.expiresAt) }),
    ...(isFields(interrupt.responseSchema) && { schema: interrupt.responseSchema as JsonObject }),
  };
}

function usageOf(usage: unknown): Usage[] {
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
