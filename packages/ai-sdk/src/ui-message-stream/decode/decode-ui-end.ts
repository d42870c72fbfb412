import type { End, EventOf, Fault, FinishReason } from '@intertie/core';
import { toInterruptedOutcome } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import { defined } from '../../shared/read-fields.ts';

type RunEnd = EventOf<'run-end'>;

/** Decodes the end of a stream from its last chunk, from a `data-event` before it, or from the first error. */
export class UIRunEndDecoder {
  /** Id of the message on the wire, if it differs from ours. */
  wireMessageId: string | undefined;
  #cause: Fault | undefined;
  /** The `run-end` of a `data-event`, used when the last chunk has the same outcome. */
  #dataEvent: RunEnd | undefined;

  setDataEvent(event: RunEnd): void {
    this.#dataEvent = event;
  }

  decodeAbort(reason: string | undefined): RunEnd {
    return this.#withMessageId(
      this.#getDataEvent('aborted') ?? { type: 'run-end', outcome: 'aborted', ...defined({ reason }) },
    );
  }

  /** Undefined if the error does not end the stream: a chat stops at an error, other readers continue. */
  decodeError(message: string): RunEnd | undefined {
    const fields = this.#getDataEvent('error');
    if (fields) return this.#withMessageId(fields);
    this.#cause ??= { message };
    return undefined;
  }

  decodeFinish(finishReason: FinishReason | undefined, waitingFor: Waiting[]): RunEnd {
    const carried = this.#getDataEvent('complete') ?? this.#getDataEvent('paused');
    if (carried) return this.#withMessageId(carried);
    const fields = { type: 'run-end' as const, ...defined({ finishReason }) };
    if (finishReason === 'error') {
      const error = this.#cause ?? { message: 'The stream finished with an error.' };
      return this.#withMessageId({ ...fields, outcome: 'error', error });
    }
    if (waitingFor.length > 0) return this.#withMessageId({ ...fields, outcome: 'paused', waitingFor });
    return this.#withMessageId({ ...fields, outcome: 'complete' });
  }

  /** Returns the end of a stream without a last chunk. Undefined if neither an error nor a message id is to be recorded. */
  toInterrupted(end: End): RunEnd | undefined {
    const isCaused = this.#cause !== undefined && end.reason === 'eof';
    if (!isCaused && this.wireMessageId === undefined) return undefined;
    const outcome = isCaused ? { outcome: 'error' as const, error: this.#cause! } : toInterruptedOutcome(end);
    return this.#withMessageId({ type: 'run-end', ...outcome });
  }

  #getDataEvent(outcome: RunEnd['outcome']): RunEnd | undefined {
    return this.#dataEvent?.outcome === outcome ? this.#dataEvent : undefined;
  }

  #withMessageId(event: RunEnd): RunEnd {
    const { wireMessageId: messageId } = this;
    if (messageId === undefined) return event;
    return { ...event, providerMetadata: { ...event.providerMetadata, 'ai-sdk': { messageId } } };
  }
}
