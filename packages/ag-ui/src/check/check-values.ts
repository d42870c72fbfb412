import type { Json } from '@intertie/core';
import { applyPatch, type Op } from '@intertie/core/internal';
import type { Complain } from './ag-ui-rules.ts';
import { asFields, isFields, type Fields } from '../shared/read-fields.ts';

/** Tracks the client's state and activities, to check that patches apply. */
export class ValueChecker {
  /** Undefined if the initial state is unknown. */
  #state: { value: Json } | undefined;
  #activities = new Map<string, Json>();

  feed(event: Fields, complain: Complain): void {
    const id = String(event.messageId);
    switch (event.type) {
      case 'RUN_STARTED':
        return this.#start(event.input);
      case 'STATE_SNAPSHOT':
        return void (this.#state = { value: event.snapshot as Json });
      case 'STATE_DELTA':
        return this.#stateDelta(event.delta, complain);
      case 'ACTIVITY_SNAPSHOT':
        if (event.replace !== false || !this.#activities.has(id)) this.#activities.set(id, event.content as Json);
        return;
      case 'ACTIVITY_DELTA':
        return this.#activityDelta(id, event.patch, complain);
      case 'MESSAGES_SNAPSHOT':
        for (const message of Array.isArray(event.messages) ? event.messages.map(asFields) : []) {
          if (message.role === 'activity') this.#activities.set(String(message.id), message.content as Json);
        }
        return;
      default:
    }
  }

  #start(input: unknown): void {
    if (isFields(input)) this.#state = { value: (input.state ?? {}) as Json };
  }

  #stateDelta(patch: unknown, complain: Complain): void {
    if (this.#state === undefined || !Array.isArray(patch)) return;
    const patched = applyPatch(this.#state.value, patch as Op[]);
    if (patched.ok) this.#state = { value: patched.value };
    else complain('patch-applies', `Operation ${patched.index} fails: ${patched.message}.`);
  }

  #activityDelta(id: string, patch: unknown, complain: Complain): void {
    const content = this.#activities.get(id);
    if (content === undefined) return complain('activity-known', `${id} has no snapshot.`);
    if (!Array.isArray(patch)) return;
    const patched = applyPatch(content, patch as Op[]);
    if (!patched.ok) complain('patch-applies', `Operation ${patched.index} fails: ${patched.message}.`);
    else if (!isFields(patched.value)) complain('patch-applies', `The content of ${id} is no longer an object.`);
    else this.#activities.set(id, patched.value);
  }
}
