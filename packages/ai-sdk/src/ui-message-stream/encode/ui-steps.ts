import type { Emit } from '@intertie/core';
import type { UIMessageChunk } from '../chunk/ui-message-chunk.ts';

/**
 * The steps of the UI message, which are the encoder's own: agents' steps overlap, the UI's do not. A boundary is written where a
 * part of another step begins. Where parts name no step, text after a call begins a new one, or it would be sent to the model
 * before the call's result. `Turns` divides model messages by the same rule. It does not depend on when a result arrives, so a
 * stored message has the same steps as its stream.
 *
 * A boundary is only written while nothing is open: `finish-step` makes ai 6 forget every open text, and a call whose input is
 * completed in a later step becomes a second part.
 */
export class UISteps {
  #isOpen = false;
  #stepId: string | undefined;
  /** What is open, and its step: texts, reasoning, and calls whose input is not complete. */
  #busy = new Map<string, string | undefined>();
  /** The calls with a part in this UI step. */
  #calls = new Set<string>();
  /** Those of them whose results follow the turn, which are all but the provider's, with the step that each names. */
  #answerable = new Map<string, string | undefined>();
  /** Whose parts are in this UI step, and whose are in earlier ones. */
  #inside = new Set<string | undefined>();
  #before = new Set<string | undefined>();

  /** A part of the model's begins: text or reasoning, a call, a file. */
  enter(stepId: string | undefined, kind: 'words' | 'other', emit: Emit<UIMessageChunk>): void {
    if (!this.#isOpen) this.#start(stepId, emit);
    else if (this.#busy.size === 0 && (stepId !== this.#stepId || this.#isNextTurn(stepId, kind))) {
      emit({ type: 'finish-step' });
      this.#start(stepId, emit);
    }
    this.#inside.add(stepId);
  }

  /** A part begins that belongs to a step only if it names one: a source, data. */
  place(stepId: string | undefined, emit: Emit<UIMessageChunk>): void {
    if (stepId === undefined) this.note(stepId);
    else this.enter(stepId, 'other', emit);
  }

  /** Something is kept in the message that makes no boundary. */
  note(stepId: string | undefined): void {
    (this.#isOpen ? this.#inside : this.#before).add(stepId);
  }

  hold(id: string, stepId: string | undefined): void {
    this.#busy.set(id, stepId);
  }

  release(id: string): void {
    this.#busy.delete(id);
  }

  /** A call has its part in this UI step. `isProviders` may become known later. */
  addCall(toolCallId: string, stepId: string | undefined, isProviders: boolean): void {
    this.#calls.add(toolCallId);
    if (isProviders) this.#answerable.delete(toolCallId);
    else this.#answerable.set(toolCallId, stepId);
  }

  /** Whether a call can still be completed in place. */
  hasCall(toolCallId: string): boolean {
    return this.#calls.has(toolCallId);
  }

  /** An agent's step is over: what it has not completed by now, it has given up. */
  endOf(stepId: string): void {
    for (const [id, owner] of this.#busy) if (owner === stepId) this.#busy.delete(id);
  }

  hasPartsOf(stepId: string): boolean {
    return this.#inside.has(stepId) || this.#before.has(stepId);
  }

  /** Takes everything of this UI step back, if that is exactly what the agent's step has said. */
  reset(stepId: string, emit: Emit<UIMessageChunk>): boolean {
    if (this.#busy.size > 0 || this.#before.has(stepId) || this.#inside.size !== 1 || !this.#inside.has(stepId)) {
      return false;
    }
    emit({ type: 'reset-step' });
    this.#clear();
    return true;
  }

  close(emit: Emit<UIMessageChunk>): void {
    if (this.#isOpen) emit({ type: 'finish-step' });
    this.#isOpen = false;
    this.#busy.clear();
  }

  #isNextTurn(stepId: string | undefined, kind: 'words' | 'other'): boolean {
    if (kind !== 'words' || this.#answerable.size === 0) return false;
    return stepId === undefined || [...this.#answerable.values()].some((callStepId) => callStepId !== stepId);
  }

  #start(stepId: string | undefined, emit: Emit<UIMessageChunk>): void {
    for (const inside of this.#inside) this.#before.add(inside);
    this.#isOpen = true;
    this.#stepId = stepId;
    this.#clear();
    emit({ type: 'start-step' });
  }

  #clear(): void {
    this.#inside.clear();
    this.#calls.clear();
    this.#answerable.clear();
  }
}
