import type { AgentEvent } from '@intertie/core';
import type { Waiting } from '@intertie/core/store';

/** The questions of a run that nobody has answered, and whether somebody is in the middle of a word. */
export class OpenQuestions {
  #ids = new Set<string>();
  /** Answered, though the run does not know it yet. */
  #answered: Set<string>;
  #speaking = new Set<string>();

  constructor(answered: Iterable<string> = []) {
    this.#answered = new Set(answered);
  }

  see(event: AgentEvent): void {
    switch (event.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#speaking.add(event.id);
        return;
      case 'text-end':
      case 'reasoning-end':
        this.#speaking.delete(event.id);
        return;
      case 'tool-input-start':
        this.#speaking.add(event.toolCallId);
        return;
      case 'tool-input-end':
        this.#speaking.delete(event.toolCallId);
        return;
      case 'question':
        // What a rule decides, nobody is asked.
        if (!this.#answered.delete(event.questionId) && !event.automatic) this.#ids.add(event.questionId);
        return;
      case 'answer':
        this.#ids.delete(event.questionId);
    }
  }

  answer(questionId: string): void {
    this.#ids.delete(questionId);
  }

  /** What the run waits for, if that is all that can be shown for now. */
  get waitingFor(): Waiting[] {
    if (this.#speaking.size > 0) return [];
    return Array.from(this.#ids, (questionId) => ({ type: 'question', questionId }));
  }
}
