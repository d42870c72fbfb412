import type { AgentEvent } from '../event/event.ts';
import type { Waiting } from '../event/outcome.ts';

/** Tracks the unanswered questions of a run, and whether a part is being streamed. */
export class OpenQuestions {
  #ids = new Set<string>();
  #openParts = new Set<string>();

  observe(event: AgentEvent): void {
    switch (event.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#openParts.add(event.id);
        return;
      case 'text-end':
      case 'reasoning-end':
        this.#openParts.delete(event.id);
        return;
      case 'tool-input-start':
        this.#openParts.add(event.toolCallId);
        return;
      case 'tool-input-end':
        this.#openParts.delete(event.toolCallId);
        return;
      case 'question':
        // Automatic questions are decided by a rule and need no answer from the client.
        if (!event.automatic) this.#ids.add(event.questionId);
        return;
      case 'answer':
        this.#ids.delete(event.questionId);
    }
  }

  answer(questionId: string): void {
    this.#ids.delete(questionId);
  }

  /** Questions that the run waits for. Empty while a part is still being streamed. */
  get waitingFor(): Array<Extract<Waiting, { type: 'question' }>> {
    if (this.#openParts.size > 0) return [];
    return Array.from(this.#ids, (questionId) => ({ type: 'question', questionId }));
  }
}
