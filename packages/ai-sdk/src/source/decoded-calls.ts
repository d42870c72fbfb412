import type { AgentEvent } from '@intertie/core';

type Claim = { resolve: (toolCallId: string) => void; reject: (error: Error) => void };

/** Maximum time that the reader waits for a part that contains a claimed call. */
const defaultWaitMs = 10_000;

/**
 * Matches tool executions with decoded calls. `streamText` names an execution by the provider's call id; the log has our id, which
 * differs where the provider's id was taken. A tool can start before its call has been decoded, so an execution waits for the call.
 *
 * A call may never be decoded, for example because a transform removed its part. The claim of such a call fails after `waitMs` in
 * which the reader waited and received nothing. Time in which nothing is read does not count.
 */
export class DecodedCalls {
  #waitMs: number;
  /** Decoded calls that have not run, by the provider's id. */
  #decoded = new Map<string, string[]>();
  #claims = new Map<string, Claim[]>();
  #isReading = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped: Error | undefined;

  constructor(waitMs: number = defaultWaitMs) {
    this.#waitMs = waitMs;
  }

  /** Fails all claims when the signal aborts: nothing is decoded after it. */
  stopOn(signal: AbortSignal): void {
    const stop = (): void => {
      this.#stopped = new Error('The run was stopped before the tool ran.');
      this.pause();
      this.#fail(() => this.#stopped!);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  }

  observe(event: AgentEvent): void {
    // Tools run in the step of their call: what is left of an earlier step was never executed.
    if (event.type === 'step-start') this.#decoded.clear();
    if (event.type !== 'tool-call' || event.invalid || event.executor !== 'runtime') return;
    const wireId = event.providerMetadata?.['ai-sdk']?.toolCallId;
    this.add(typeof wireId === 'string' ? wireId : event.toolCallId, event.toolCallId);
  }

  add(wireId: string, toolCallId: string): void {
    const [claim, ...others] = this.#claims.get(wireId) ?? [];
    if (claim === undefined) {
      this.#decoded.set(wireId, [...(this.#decoded.get(wireId) ?? []), toolCallId]);
      return;
    }
    if (others.length > 0) this.#claims.set(wireId, others);
    else this.#claims.delete(wireId);
    claim.resolve(toolCallId);
  }

  /** Our id of the call that is about to run. */
  async claim(wireId: string): Promise<string> {
    const decoded = this.#decoded.get(wireId)?.shift();
    if (decoded !== undefined) return decoded;
    if (this.#stopped) throw this.#stopped;
    return new Promise((resolve, reject) => {
      this.#claims.set(wireId, [...(this.#claims.get(wireId) ?? []), { resolve, reject }]);
      this.#arm();
    });
  }

  /** The reader starts to wait for the next part. */
  resume(): void {
    this.#isReading = true;
    if (this.#claims.size > 0) this.#arm();
  }

  /** The reader has received a part. */
  pause(): void {
    this.#isReading = false;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(): void {
    if (!this.#isReading || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#fail((wireId) => new Error(toMissingCallMessage(wireId)));
    }, this.#waitMs);
  }

  #fail(errorOf: (wireId: string) => Error): void {
    const claims = [...this.#claims];
    this.#claims.clear();
    for (const [wireId, waiting] of claims) for (const { reject } of waiting) reject(errorOf(wireId));
  }
}

function toMissingCallMessage(wireId: string): string {
  return (
    `The tool was not run: its call ${wireId} did not appear in the model’s stream. ` +
    'Check that no transform or middleware removes, renames or repeats tool calls.'
  );
}
