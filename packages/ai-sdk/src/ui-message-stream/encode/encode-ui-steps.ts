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
export class UIStepEncoder {
  #isOpen = false;
  #stepId: string | undefined;
  /** What is open, and its step: texts, reasoning, and calls whose input is not complete. */
  #openParts = new Map<string, string | undefined>();
  /** The calls with a part in this UI step. */
  #calls = new Set<string>();
  /** Those of them whose results follow the turn, which are all but the provider's, with the step that each names. */
  #callsWithoutResult = new Map<string, string | undefined>();
  /** Whose parts are in this UI step, and whose are in earlier ones. */
  #currentSteps = new Set<string | undefined>();
  #earlierSteps = new Set<string | undefined>();

  /** A part of the model's begins: text or reasoning, a call, a file. */
  enterStep(stepId: string | undefined, kind: 'text' | 'other', emit: Emit<UIMessageChunk>): void {
    if (!this.#isOpen) this.#start(stepId, emit);
    else if (this.#openParts.size === 0 && (stepId !== this.#stepId || this.#needsBoundary(stepId, kind))) {
      emit({ type: 'finish-step' });
      this.#start(stepId, emit);
    }
    this.#currentSteps.add(stepId);
  }

  /** A part begins that belongs to a step only if it names one: a source, data. */
  enterNamedStep(stepId: string | undefined, emit: Emit<UIMessageChunk>): void {
    if (stepId === undefined) this.addPart(stepId);
    else this.enterStep(stepId, 'other', emit);
  }

  /** Something is kept in the message that makes no boundary. */
  addPart(stepId: string | undefined): void {
    (this.#isOpen ? this.#currentSteps : this.#earlierSteps).add(stepId);
  }

  openPart(id: string, stepId: string | undefined): void {
    this.#openParts.set(id, stepId);
  }

  closePart(id: string): void {
    this.#openParts.delete(id);
  }

  /** A call has its part in this UI step. `isProviders` may become known later. */
  addCall(toolCallId: string, stepId: string | undefined, isProviders: boolean): void {
    this.#calls.add(toolCallId);
    if (isProviders) this.#callsWithoutResult.delete(toolCallId);
    else this.#callsWithoutResult.set(toolCallId, stepId);
  }

  /** Whether a call can still be completed in place. */
  hasCall(toolCallId: string): boolean {
    return this.#calls.has(toolCallId);
  }

  /** An agent's step is over: what it has not completed by now, it has given up. */
  closePartsOf(stepId: string): void {
    for (const [id, owner] of this.#openParts) if (owner === stepId) this.#openParts.delete(id);
  }

  hasPartsOf(stepId: string): boolean {
    return this.#currentSteps.has(stepId) || this.#earlierSteps.has(stepId);
  }

  /** Takes everything of this UI step back, if that is exactly what the agent's step has said. */
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
    if (kind !== 'text' || this.#callsWithoutResult.size === 0) return false;
    return stepId === undefined || [...this.#callsWithoutResult.values()].some((callStepId) => callStepId !== stepId);
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
    this.#callsWithoutResult.clear();
  }
}
