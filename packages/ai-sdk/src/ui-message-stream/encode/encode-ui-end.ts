import type { Emit, EventOf, Fault, FinishReason } from '@intertie/core';
import { emitDataEvent } from './emit-data-event.ts';
import { metadataKey } from '../../shared/intertie-metadata.ts';
import { defined, omit } from '../../shared/read-fields.ts';
import type { UIMessageChunk, UIMessageVersion } from '../chunk/ui-message-chunk.ts';

type RunEnd = EventOf<'run-end'>;

/** Encodes the end of a run. Fields that the last chunk does not have are sent before it as a data event. */
export function encodeRunEnd(ended: RunEnd, version: UIMessageVersion, emit: Emit<UIMessageChunk>): void {
  const messageMetadata = { [metadataKey]: { status: ended.outcome } };
  switch (ended.outcome) {
    case 'complete':
    case 'paused': {
      const finishReason = getFinishReason(ended, version);
      if (hasExtraFields(ended, finishReason)) emitDataEvent(ended, emit);
      return emit({ type: 'finish', ...defined({ finishReason }), messageMetadata });
    }
    case 'aborted':
      if (hasExtraFields(ended)) emitDataEvent(ended, emit);
      emit({ type: 'message-metadata', messageMetadata });
      return emit({ type: 'abort', ...defined({ reason: ended.reason }) });
    case 'error':
      if (hasExtraFields(ended)) emitDataEvent(ended, emit);
      emit({ type: 'message-metadata', messageMetadata });
      return emit({ type: 'error', errorText: ended.error.message });
  }
}

function getFinishReason(event: RunEnd, version: UIMessageVersion): FinishReason | undefined {
  if (event.finishReason === undefined && event.outcome === 'paused') {
    return event.waitingFor.some(({ type }) => type !== 'message') ? 'tool-calls' : undefined;
  }
  return event.finishReason === 'interrupted' && version === 6 ? 'other' : event.finishReason;
}

/** Whether the event has fields that its chunk does not have. */
function hasExtraFields(event: RunEnd, finishReason?: FinishReason): boolean {
  const { outcome, finishReason: ownReason, ...rest } = omit(event, 'type', 'at', 'origin');
  if (ownReason !== finishReason) return true;
  switch (outcome) {
    case 'error': {
      const { error, ...extra } = rest as { error: Fault };
      return Object.keys(extra).length > 0 || Object.keys(error).length > 1;
    }
    case 'aborted': {
      const extra = omit(rest as { reason?: string }, 'reason');
      return Object.keys(extra).length > 0;
    }
    default:
      return Object.keys(rest).length > 0;
  }
}
