import type { Emit } from '@intertie/core';
import type { UIMessageChunk } from './ui-message-chunk.ts';

/**
 * The steps of the UI message, which are the encoder's own: agents' steps overlap, the UI's do not. A boundary is written
 * where a part of another step begins, and where text follows a tool's result (or it would be sent to the model before it),
 * but only while nothing is open: `finish-step` makes ai 6 forget every open text, and a call whose input is completed in a
 * later step becomes a second part.
 */
export class UISteps {
  #isOpen = false;
  #stepId: string | undefined;
  /** What is open, and its step: texts, reasoning, and calls whose input is not complete. */
  #busy = new Map<string, string | undefined>();
  /** The calls with a part in this UI step. */
  #calls = new Set<string>();
  #hasResult = false;
  /** Whose parts are in this UI step, and whose are in earlier ones. */
  #inside = new Set<string | undefined>();
  #before = new Set<string | undefined>();

  /** A part of the model's begins: text or reasoning, a call, a file. */
  enter(stepId: string | undefined, kind: 'words' | 'other', emit: Emit<UIMessageChunk>): void {
    if (!this.#isOpen) this.#start(stepId, emit);
    else if (this.#busy.size === 0 && (stepId !== this.#stepId || (kind === 'words' && this.#hasResult))) {
      emit({ type: 'finish-step' });
      this.#start(stepId, emit);
    }
    this.#inside.add(stepId);
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

  addCall(toolCallId: string): void {
    this.#calls.add(toolCallId);
  }

  /** Whether a call can still be completed in place. */
  hasCall(toolCallId: string): boolean {
    return this.#calls.has(toolCallId);
  }

  addResult(toolCallId: string): void {
    if (this.#calls.has(toolCallId)) this.#hasResult = true;
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
    this.#hasResult = false;
  }
}
