/** The calls that the log has, or will have with its next flush, and the tools that wait for that. */
export class RecordedCalls {
  #recorded = new Set<string>();
  #waiting = new Map<string, Array<() => void>>();

  add(toolCallId: string): void {
    this.#recorded.add(toolCallId);
    for (const resolve of this.#waiting.get(toolCallId) ?? []) resolve();
    this.#waiting.delete(toolCallId);
  }

  /** Resolves when the call has been read, or when nobody reads any more. */
  async wait(toolCallId: string, signal: AbortSignal): Promise<void> {
    if (this.#recorded.has(toolCallId) || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#waiting.set(toolCallId, [...(this.#waiting.get(toolCallId) ?? []), resolve]);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
