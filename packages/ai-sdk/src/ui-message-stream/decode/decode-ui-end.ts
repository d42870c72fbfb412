import type { EventOf, Fault, FinishReason } from '@intertie/core';
import type { Waiting } from '@intertie/core/store';
import { defined } from '../../shared/read-fields.ts';

type RunEnd = EventOf<'run-end'>;

/** How a UI message stream ends: by its last chunk, by what a `data-event` has said before it, or by the first error. */
export class UIRunEndDecoder {
  /** What the wire calls the message, where that is not our name for it. */
  wireMessageId: string | undefined;
  #cause: Fault | undefined;
  /** What a `data-event` has said of the end, until the wire's own last word. */
  #dataEvent: RunEnd | undefined;

  setDataEvent(event: RunEnd): void {
    this.#dataEvent = event;
  }

  decodeAbort(reason: string | undefined): RunEnd {
    return this.#withMessageId(
      this.#getDataEvent('aborted') ?? { type: 'run-end', outcome: 'aborted', ...defined({ reason }) },
    );
  }

  /** Undefined: the error is not the end by itself. A chat stops here, other readers go on. */
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

  /** The input is over without a last word. Undefined: nothing tells why. */
  toTruncated(): RunEnd | undefined {
    return this.#cause && this.#withMessageId({ type: 'run-end', outcome: 'error', error: this.#cause });
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
