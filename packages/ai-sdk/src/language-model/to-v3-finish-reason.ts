import type { LanguageModelV3FinishReason } from '@ai-sdk/provider';
import type { EventOf, FinishReason } from '@intertie/core';

/** Converts the end of a run. `isWaiting`: the run waits for a tool of the caller or for an approval. */
export function toV3FinishReason(event: EventOf<'run-end'>, isWaiting: boolean): LanguageModelV3FinishReason {
  const { finishReason = 'stop', rawFinishReason: raw } = event;
  switch (event.outcome) {
    case 'complete': {
      const reason = toUnifiedReason(finishReason);
      // The AI SDK reports a truncated stream as `other` without a raw reason, so this one must have one.
      return { unified: reason, raw: raw ?? (reason === 'other' ? finishReason : undefined) };
    }
    case 'paused': {
      // The SDK runs the caller's tools only after `tool-calls`.
      return { unified: isWaiting ? 'tool-calls' : 'stop', raw: raw ?? 'paused' };
    }
    case 'aborted':
      return { unified: 'other', raw: 'aborted' };
    case 'error':
      return { unified: 'error', raw: raw ?? event.error.code };
  }
}

function toUnifiedReason(reason: FinishReason): LanguageModelV3FinishReason['unified'] {
  return reason === 'interrupted' ? 'other' : reason;
}
