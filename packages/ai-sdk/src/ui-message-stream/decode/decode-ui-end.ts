import type { EventOf, Fault, FinishReason } from '@intertie/core';
import type { Waiting } from '@intertie/core/store';
import { defined } from '../../shared/read-fields.ts';

type RunEnd = EventOf<'run-end'>;

/** How a UI message stream ends: by its last chunk, by what a `data-event` has said before it, or by the first error. */
export class DecodedEnd {
  /** What the wire calls the message, where that is not our name for it. */
  wireMessageId: string | undefined;
  #cause: Fault | undefined;
  /** What a `data-event` has said of the end, until the wire's own last word. */
  #said: RunEnd | undefined;

  carried(event: RunEnd): void {
    this.#said = event;
  }

  abort(reason: string | undefined): RunEnd {
    return this.#whole(this.#saidOf('aborted') ?? { type: 'run-end', outcome: 'aborted', ...defined({ reason }) });
  }

  /** Undefined: the error is not the end by itself. A chat stops here, other readers go on. */
  fail(message: string): RunEnd | undefined {
    const said = this.#saidOf('error');
    if (said) return this.#whole(said);
    this.#cause ??= { message };
    return undefined;
  }

  finish(finishReason: FinishReason | undefined, waitingFor: Waiting[]): RunEnd {
    const carried = this.#saidOf('complete') ?? this.#saidOf('paused');
    if (carried) return this.#whole(carried);
    const said = { type: 'run-end' as const, ...defined({ finishReason }) };
    if (finishReason === 'error') {
      const error = this.#cause ?? { message: 'The stream finished with an error.' };
      return this.#whole({ ...said, outcome: 'error', error });
    }
    if (waitingFor.length > 0) return this.#whole({ ...said, outcome: 'paused', waitingFor });
    return this.#whole({ ...said, outcome: 'complete' });
  }

  /** The input is over without a last word. Undefined: nothing tells why. */
  cut(): RunEnd | undefined {
    return this.#cause && this.#whole({ type: 'run-end', outcome: 'error', error: this.#cause });
  }

  #saidOf(outcome: RunEnd['outcome']): RunEnd | undefined {
    return this.#said?.outcome === outcome ? this.#said : undefined;
  }

  #whole(event: RunEnd): RunEnd {
    const { wireMessageId: messageId } = this;
    if (messageId === undefined) return event;
    return { ...event, providerMetadata: { ...event.providerMetadata, 'ai-sdk': { messageId } } };
  }
}
