import type { EventOf, Json, OnLoss } from '@intertie/core';
import { applyPatch } from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';

type Write = (event: AGUIEvent) => void;

/** Encodes the state of the thread and tracks the client's copy. */
export class StateEncoder {
  #onLoss: OnLoss;
  #state: { value: Json } | undefined;
  #owned = new WeakSet<object>();

  constructor(onLoss: OnLoss) {
    this.#onLoss = onLoss;
  }

  snapshot({ state }: EventOf<'state-snapshot'>, write: Write): void {
    this.#state = { value: state };
    write({ type: 'STATE_SNAPSHOT', snapshot: state });
  }

  delta({ patch }: EventOf<'state-delta'>, write: Write): void {
    const patched = applyPatch(this.#state?.value ?? {}, patch, this.#owned);
    if (!patched.ok) {
      return this.#onLoss({
        kind: 'repaired',
        what: 'state-delta',
        why: `The patch does not apply: ${patched.message}.`,
      });
    }
    this.#state = { value: patched.value };
    write({ type: 'STATE_DELTA', delta: patch });
  }

  /** Writes the complete state, for a client that joins. */
  reopen(write: Write): void {
    if (this.#state) write({ type: 'STATE_SNAPSHOT', snapshot: structuredClone(this.#state.value) });
  }
}
