import type { AgentEvent } from '@intertie/core';

/**
 * Which call is meant when `streamText` runs a tool: it knows the provider's id, while the log knows ours, which differs where
 * the provider's is taken. A tool may be started before its call has been read, so it waits for that.
 */
export class DecodedCalls {
  #signal: AbortSignal;
  /** Calls that have been read and not yet run, by the provider's id. */
  #read = new Map<string, string[]>();
  #waiting = new Map<string, Array<(id: string) => void>>();

  /** `signal` ends the waiting: nobody reads any more. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  see(event: AgentEvent): void {
    if (event.type !== 'tool-call') return;
    const wireId = event.providerMetadata?.['ai-sdk']?.toolCallId;
    this.add(typeof wireId === 'string' ? wireId : event.toolCallId, event.toolCallId);
  }

  add(wireId: string, toolCallId: string): void {
    const next = this.#waiting.get(wireId)?.shift();
    if (next) next(toolCallId);
    else this.#read.set(wireId, [...(this.#read.get(wireId) ?? []), toolCallId]);
  }

  /** Our id of the call that is about to run. */
  async claim(wireId: string): Promise<string> {
    const read = this.#read.get(wireId)?.shift();
    if (read !== undefined) return read;
    this.#signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(new Error('The run was stopped before the tool ran.'));
      const onRead = (toolCallId: string): void => {
        this.#signal.removeEventListener('abort', onAbort);
        resolve(toolCallId);
      };
      this.#waiting.set(wireId, [...(this.#waiting.get(wireId) ?? []), onRead]);
      this.#signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}
