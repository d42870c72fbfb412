import type { AgentEvent, Emit } from '@intertie/core';

/** Decodes the steps of a UI message stream, which have no ids and can finish while one of their parts is open. */
export class UIStepDecoder {
  #runId: string;
  #count = 0;
  #current: string | undefined;
  /** Number of open parts per step. */
  #open = new Map<string, number>();
  /** Finished steps with open parts. */
  #waiting = new Set<string>();

  constructor(runId: string) {
    this.#runId = runId;
  }

  get current(): string | undefined {
    return this.#current;
  }

  start(emit: Emit<AgentEvent>): void {
    this.finish(emit);
    this.#current = `${this.#runId}:step-${this.#count}`;
    this.#count += 1;
    emit({ type: 'step-start', stepId: this.#current });
  }

  finish(emit: Emit<AgentEvent>): void {
    const stepId = this.#current;
    this.#current = undefined;
    if (stepId === undefined) return;
    if (this.#open.has(stepId)) this.#waiting.add(stepId);
    else emit({ type: 'step-end', stepId });
  }

  /** Discards the current step, whose parts have been closed, and starts another. */
  discard(emit: Emit<AgentEvent>): void {
    if (this.#current !== undefined) emit({ type: 'step-end', stepId: this.#current, discarded: true });
    this.#current = undefined;
    this.start(emit);
  }

  addOpenPart(stepId: string | undefined): void {
    if (stepId !== undefined) this.#open.set(stepId, (this.#open.get(stepId) ?? 0) + 1);
  }

  removeOpenPart(stepId: string | undefined, emit: Emit<AgentEvent>): void {
    if (stepId === undefined) return;
    const left = (this.#open.get(stepId) ?? 1) - 1;
    if (left > 0) this.#open.set(stepId, left);
    else {
      this.#open.delete(stepId);
      if (this.#waiting.delete(stepId)) emit({ type: 'step-end', stepId });
    }
  }
}
