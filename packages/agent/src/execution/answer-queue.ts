import type { Answer } from '@intertie/core';

/** Answers on their way to a run that waits for them inside its process. */
export class AnswerQueue implements AsyncIterable<Answer> {
  #answers: Answer[] = [];
  #wake: (() => void) | undefined;
  #isClosed = false;

  push(answer: Answer): void {
    this.#answers.push(answer);
    this.#wake?.();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Answer> {
    for (;;) {
      const answer = this.#answers.shift();
      if (answer) yield answer;
      else if (this.#isClosed) return;
      else await new Promise<void>((wake) => (this.#wake = wake));
    }
  }
}
