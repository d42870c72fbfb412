import type { AgentEvent, MessageContent } from '@intertie/core';

/**
 * Tools that the source of a run executes in this process, derived from its events. A step with calls counts as busy until it ends:
 * tools start when the model's response is complete, and the end of the step has its usage.
 */
export class RunningTools {
  #calls = new Set<string>();
  /** Calls by the question that must be approved before they run. */
  #asked = new Map<string, string>();
  #busyStep: string | undefined;

  get isIdle(): boolean {
    return this.#calls.size === 0 && this.#busyStep === undefined;
  }

  record(event: AgentEvent): void {
    switch (event.type) {
      case 'tool-call':
        if (event.executor !== 'runtime' || event.invalid) return;
        this.#calls.add(event.toolCallId);
        this.#busyStep = event.stepId;
        return;
      case 'question':
        if (event.toolCallId === undefined || !this.#calls.delete(event.toolCallId)) return;
        this.#asked.set(event.questionId, event.toolCallId);
        return;
      case 'answer': {
        const toolCallId = this.#asked.get(event.questionId);
        if (toolCallId !== undefined && event.approved !== false) this.#calls.add(toolCallId);
        return;
      }
      case 'tool-result':
        if (event.status !== 'ok' || !event.preliminary) this.#calls.delete(event.toolCallId);
        return;
      case 'step-end':
        if (event.stepId === this.#busyStep) this.#busyStep = undefined;
        return;
      case 'message-snapshot':
        return this.#addApproved(event.content);
      default:
    }
  }

  /** A continuation begins with the approved calls of its message. */
  #addApproved({ parts }: MessageContent): void {
    for (const part of parts) {
      if (part.type !== 'tool-invocation' || part.state !== 'call' || part.executor !== 'runtime') continue;
      if (part.approval?.answer?.approved) this.#calls.add(part.toolCallId);
    }
  }
}
