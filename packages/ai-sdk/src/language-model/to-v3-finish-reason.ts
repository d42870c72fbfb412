import type { LanguageModelV3FinishReason } from '@ai-sdk/provider';
import type { EventOf, FinishReason } from '@intertie/core';

/** `isWaiting`: for a tool of the caller's, or for an approval. */
export function toV3FinishReason(event: EventOf<'run-end'>, isWaiting: boolean): LanguageModelV3FinishReason {
  const { finishReason = 'stop', rawFinishReason: raw } = event;
  switch (event.outcome) {
    case 'complete': {
      const reason = toUnifiedReason(finishReason);
      // `other` without a reason of the provider's own is how the AI SDK reports a stream that was cut.
      return { unified: reason, raw: raw ?? (reason === 'other' ? finishReason : undefined) };
    }
    case 'paused': {
      // The caller's tools run only after `tool-calls`; without one of them nothing would ever go on.
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
