import type { Emit, EventOf } from '@intertie/core';
import { omit } from '../../shared/read-fields.ts';
import { toExtensionId } from '../chunk/ui-extension.ts';
import type { UIMessageChunk } from '../chunk/ui-message-chunk.ts';

/** Emits an event that chunks cannot (fully) express as transient data, for readers that know canonical events. */
export function emitDataEvent(
  event: EventOf<'step-start' | 'step-end' | 'metadata' | 'tool-result' | 'question' | 'answer' | 'run-end'>,
  emit: Emit<UIMessageChunk>,
): void {
  const data = omit(event, 'at', 'origin');
  emit({ type: 'data-event', id: toExtensionId('event'), data, transient: true });
}
