import type { AgentEvent, Emit } from '@intertie/core';
import type { Op } from '@intertie/core/internal';
import type { AGUISaidReader } from './decode-attribution.ts';
import type { Fields } from '../shared/read-fields.ts';

/** The shared state. The first that is said of it in a run is a snapshot. */
export class AGUIStateReader {
  #reader: AGUISaidReader;
  #isKnown: boolean;

  constructor(reader: AGUISaidReader, isKnown: boolean) {
    this.#reader = reader;
    this.#isKnown = isKnown;
  }

  snapshot(event: Fields, emit: Emit<AgentEvent>): boolean {
    this.#isKnown = true;
    emit({ type: 'state-snapshot', state: this.#reader.json(event.snapshot) });
    return true;
  }

  delta(event: Fields, emit: Emit<AgentEvent>): boolean {
    // What some agents call it, after the field of the activities.
    const patch = event.delta ?? event.patch;
    if (!Array.isArray(patch)) return false;
    if (!this.#isKnown) emit({ type: 'state-snapshot', state: {} });
    this.#isKnown = true;
    emit({ type: 'state-delta', patch: this.#reader.json(patch) as unknown as Op[] });
    return true;
  }
}
