import type { AgentEvent, Emit } from '@intertie/core';
import type { Op } from '@intertie/core/internal';
import type { AttributionDecoder } from './decode-attribution.ts';
import type { Fields } from '../shared/read-fields.ts';

/** Decodes the shared state. The first state event of a run is always a snapshot. */
export class StateDecoder {
  #attribution: AttributionDecoder;
  #isKnown: boolean;

  constructor(attribution: AttributionDecoder, isKnown: boolean) {
    this.#attribution = attribution;
    this.#isKnown = isKnown;
  }

  snapshot(event: Fields, emit: Emit<AgentEvent>): boolean {
    this.#isKnown = true;
    emit({ type: 'state-snapshot', state: this.#attribution.toJson(event.snapshot) });
    return true;
  }

  delta(event: Fields, emit: Emit<AgentEvent>): boolean {
    // Some agents send `patch`, the field of ACTIVITY_DELTA.
    const patch = event.delta ?? event.patch;
    if (!Array.isArray(patch)) return false;
    if (!this.#isKnown) emit({ type: 'state-snapshot', state: {} });
    this.#isKnown = true;
    emit({ type: 'state-delta', patch: this.#attribution.toJson(patch) as unknown as Op[] });
    return true;
  }
}
