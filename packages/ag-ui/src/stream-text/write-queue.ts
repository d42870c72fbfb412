import type { AgentEvent, Loss, OnLoss } from '@intertie/core';

/** `toolCallId`: of the call during which it was written. */
export type Written = { event: AgentEvent; toolCallId: string | undefined };

/** What was written into a run and is not told yet. */
export class WriteQueue {
  /** Is called when something was written. */
  onWrite: (() => void) | undefined;
  #written: Written[] = [];
  #state: 'free' | 'taken' | 'over' = 'free';
  #onLoss: OnLoss = () => undefined;

  get isEmpty(): boolean {
    return this.#written.length === 0;
  }

  /** Whether the event will be told. */
  put(event: AgentEvent, toolCallId: string | undefined): boolean {
    if (this.#state === 'over') {
      this.#onLoss(late(event));
      return false;
    }
    this.#written.push({ event, toolCallId });
    this.onWrite?.();
    return true;
  }

  /** Whether it was free: one run has it. */
  take(onLoss: OnLoss): boolean {
    if (this.#state !== 'free') return false;
    this.#state = 'taken';
    this.#onLoss = onLoss;
    return true;
  }

  drain(): Written[] {
    const written = this.#written;
    this.#written = [];
    return written;
  }

  /** The run is over, or nobody reads it any more. */
  close(): void {
    this.#state = 'over';
    this.onWrite = undefined;
    for (const { event } of this.drain()) this.#onLoss(late(event));
  }
}

function late(event: AgentEvent): Loss {
  const why = 'It was written after the run had ended, or after its reader had left.';
  return { kind: 'late', what: event.type, why, ...('id' in event && { id: event.id }) };
}
