import type { AgentEvent, Loss, OnLoss } from '@intertie/core';

/** Written event, and the call during which it was written. */
export type Written = { event: AgentEvent; toolCallId: string | undefined };

/** Queue of events that were written into a run and not emitted yet. */
export class WriteQueue {
  /** Called after each write. */
  onWrite: (() => void) | undefined;
  #written: Written[] = [];
  #state: 'free' | 'bound' | 'closed' = 'free';
  #onLoss: OnLoss = () => undefined;

  get isEmpty(): boolean {
    return this.#written.length === 0;
  }

  /** Returns whether the event will be emitted. */
  put(event: AgentEvent, toolCallId: string | undefined): boolean {
    if (this.#state === 'closed') {
      this.#onLoss(toLateLoss(event));
      return false;
    }
    this.#written.push({ event, toolCallId });
    this.onWrite?.();
    return true;
  }

  /** Binds the queue to a run. Returns false if it already belongs to one. */
  bind(onLoss: OnLoss): boolean {
    if (this.#state !== 'free') return false;
    this.#state = 'bound';
    this.#onLoss = onLoss;
    return true;
  }

  drain(): Written[] {
    const written = this.#written;
    this.#written = [];
    return written;
  }

  /** Rejects further writes: the run has ended, or its reader has left. */
  close(): void {
    this.#state = 'closed';
    this.onWrite = undefined;
    for (const { event } of this.drain()) this.#onLoss(toLateLoss(event));
  }
}

function toLateLoss(event: AgentEvent): Loss {
  const why = 'It was written after the end of the run, or after its reader had left.';
  return { kind: 'late', what: event.type, why, ...('id' in event && { id: event.id }) };
}
