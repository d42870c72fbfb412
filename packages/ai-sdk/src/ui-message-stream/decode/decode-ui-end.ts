import type { End, EventOf, Fault, FinishReason } from '@intertie/core';
import { toInterruptedOutcome } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import { defined } from '../../shared/read-fields.ts';

type RunEnd = EventOf<'run-end'>;

/** Decodes the end of a stream from its last chunk, from a `data-event` before it, or from the first error. */
export class UIRunEndDecoder {
  /** Ids on the wire, if the message has another one than ours. Only an Intertie route sends the id of its run. */
  wireIds: { messageId: string; runId?: string } | undefined;
  #cause: Fault | undefined;
  /** The `run-end` of a `data-event`, used when the last chunk has the same outcome. */
  #dataEvent: RunEnd | undefined;

  setDataEvent(event: RunEnd): void {
    this.#dataEvent = event;
  }

  decodeAbort(reason: string | undefined): RunEnd {
    return this.#withWireIds(
      this.#getDataEvent('aborted') ?? { type: 'run-end', outcome: 'aborted', ...defined({ reason }) },
    );
  }

  /** Undefined if the error does not end the stream: a chat stops at an error, other readers continue. */
  decodeError(message: string): RunEnd | undefined {
    const fields = this.#getDataEvent('error');
    if (fields) return this.#withWireIds(fields);
    this.#cause ??= { message };
    return undefined;
  }

  decodeFinish(finishReason: FinishReason | undefined, waitingFor: Waiting[]): RunEnd {
    const carried = this.#getDataEvent('complete') ?? this.#getDataEvent('paused');
    if (carried) return this.#withWireIds(carried);
    const fields = { type: 'run-end' as const, ...defined({ finishReason }) };
    if (finishReason === 'error') {
      const error = this.#cause ?? { message: 'The stream finished with an error.' };
      return this.#withWireIds({ ...fields, outcome: 'error', error });
    }
    if (waitingFor.length > 0) return this.#withWireIds({ ...fields, outcome: 'paused', waitingFor });
    return this.#withWireIds({ ...fields, outcome: 'complete' });
  }

  /** Returns the end of a stream without a last chunk. Undefined if neither an error nor ids are to be recorded. */
  toInterrupted(end: End): RunEnd | undefined {
    const isCaused = this.#cause !== undefined && end.reason === 'eof';
    if (!isCaused && this.wireIds === undefined) return undefined;
    const outcome = isCaused ? { outcome: 'error' as const, error: this.#cause! } : toInterruptedOutcome(end);
    return this.#withWireIds({ type: 'run-end', ...outcome });
  }

  #getDataEvent(outcome: RunEnd['outcome']): RunEnd | undefined {
    return this.#dataEvent?.outcome === outcome ? this.#dataEvent : undefined;
  }

  #withWireIds(event: RunEnd): RunEnd {
    const { wireIds } = this;
    if (wireIds === undefined) return event;
    return { ...event, providerMetadata: { ...event.providerMetadata, 'ai-sdk': wireIds } };
  }
}
