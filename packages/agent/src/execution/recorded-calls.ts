/** Tool calls that are in the log or in its next flush. A tool waits for its own call before it runs. */
export class RecordedCalls {
  #recorded = new Set<string>();
  #waiting = new Map<string, Array<() => void>>();

  add(toolCallId: string): void {
    this.#recorded.add(toolCallId);
    for (const resolve of this.#waiting.get(toolCallId) ?? []) resolve();
    this.#waiting.delete(toolCallId);
  }

  /** Resolves when the call is recorded, or when the signal is aborted. */
  async wait(toolCallId: string, signal: AbortSignal): Promise<void> {
    if (this.#recorded.has(toolCallId) || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        signal.removeEventListener('abort', settle);
        resolve();
      };
      this.#waiting.set(toolCallId, [...(this.#waiting.get(toolCallId) ?? []), settle]);
      signal.addEventListener('abort', settle, { once: true });
    });
  }
}
