import type { Emit } from '@intertie/core';
import type { UIMessageChunk } from '../chunk/ui-message-chunk.ts';

/**
 * Writes the step boundaries of the UI message. Steps of agents overlap, those of the UI do not: a boundary is written when a
 * part of another step starts. If parts have no step id, text after a call starts a new step, because otherwise the model would
 * get it before the call's result. `to-ai-sdk-messages.ts` divides model messages by the same rule. It does not depend on when a result
 * arrives, so a stored message has the same steps as its stream.
 *
 * A boundary is only written while no part is open: `finish-step` makes ai 6 forget open texts, and a call whose input is
 * completed in a later step becomes a second part.
 */
export class UIStepEncoder {
  #isOpen = false;
  #stepId: string | undefined;
  /** Open texts, reasoning and calls with incomplete input, with their step ids. */
  #openParts = new Map<string, string | undefined>();
  /** Calls with a part in the current UI step. */
  #calls = new Set<string>();
  /** Those calls whose result the model gets after the step (all but the provider's), with their step ids. */
  #deferredCalls = new Map<string, string | undefined>();
  /** Step ids of the parts in the current UI step, and in earlier ones. */
  #currentSteps = new Set<string | undefined>();
  #earlierSteps = new Set<string | undefined>();

  /** Writes a boundary if needed before a part of the model: text, reasoning, a call or a file. */
  enterStep(stepId: string | undefined, kind: 'text' | 'other', emit: Emit<UIMessageChunk>): void {
    if (!this.#isOpen) this.#start(stepId, emit);
    // The step is empty after a reset, so the next one takes its place.
    else if (this.#currentSteps.size === 0) this.#stepId = stepId;
    else if (this.#openParts.size === 0 && (stepId !== this.#stepId || this.#needsBoundary(stepId, kind))) {
      emit({ type: 'finish-step' });
      this.#start(stepId, emit);
    }
    this.#currentSteps.add(stepId);
  }

  /** Writes a boundary if needed before a source or data, which belong to a step only if they name one. */
  enterNamedStep(stepId: string | undefined, emit: Emit<UIMessageChunk>): void {
    if (stepId === undefined) this.addPart(stepId);
    else this.enterStep(stepId, 'other', emit);
  }

  /** Records a part of the message that never causes a boundary. */
  addPart(stepId: string | undefined): void {
    (this.#isOpen ? this.#currentSteps : this.#earlierSteps).add(stepId);
  }

  openPart(id: string, stepId: string | undefined): void {
    this.#openParts.set(id, stepId);
  }

  closePart(id: string): void {
    this.#openParts.delete(id);
  }

  /** Records a call in the current UI step. Called again if `isProviders` becomes known later. */
  addCall(toolCallId: string, stepId: string | undefined, isProviders: boolean): void {
    this.#calls.add(toolCallId);
    if (isProviders) this.#deferredCalls.delete(toolCallId);
    else this.#deferredCalls.set(toolCallId, stepId);
  }

  /** Whether the part of a call is in the current UI step, where its input can be completed. */
  hasCall(toolCallId: string): boolean {
    return this.#calls.has(toolCallId);
  }

  /** Closes the parts that an agent's step left open. */
  closeStepParts(stepId: string): void {
    for (const [id, owner] of this.#openParts) if (owner === stepId) this.#openParts.delete(id);
  }

  hasStepParts(stepId: string): boolean {
    return this.#currentSteps.has(stepId) || this.#earlierSteps.has(stepId);
  }

  /** Removes all parts of the current UI step, if they are exactly the parts of the given step. */
  reset(stepId: string, emit: Emit<UIMessageChunk>): boolean {
    if (
      this.#openParts.size > 0 ||
      this.#earlierSteps.has(stepId) ||
      this.#currentSteps.size !== 1 ||
      !this.#currentSteps.has(stepId)
    ) {
      return false;
    }
    emit({ type: 'reset-step' });
    this.#clear();
    return true;
  }

  close(emit: Emit<UIMessageChunk>): void {
    if (this.#isOpen) emit({ type: 'finish-step' });
    this.#isOpen = false;
    this.#openParts.clear();
  }

  #needsBoundary(stepId: string | undefined, kind: 'text' | 'other'): boolean {
    if (kind !== 'text' || this.#deferredCalls.size === 0) return false;
    return stepId === undefined || [...this.#deferredCalls.values()].some((callStepId) => callStepId !== stepId);
  }

  #start(stepId: string | undefined, emit: Emit<UIMessageChunk>): void {
    for (const inside of this.#currentSteps) this.#earlierSteps.add(inside);
    this.#isOpen = true;
    this.#stepId = stepId;
    this.#clear();
    emit({ type: 'start-step' });
  }

  #clear(): void {
    this.#currentSteps.clear();
    this.#calls.clear();
    this.#deferredCalls.clear();
  }
}
