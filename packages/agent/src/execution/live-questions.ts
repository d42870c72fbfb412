import type { Answer } from '@intertie/core';
import type { Ownership, Registry } from '@intertie/core/store';
import { persist, type PersistOptions } from './persist.ts';

/** Passes answers to a source that waits for them in its process. */
class AnswerQueue implements AsyncIterable<Answer> {
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

/** Open questions of a run that waits in its process. Answers arrive through the store, so any process can give them. */
export class LiveQuestions {
  readonly answers: AnswerQueue = new AnswerQueue();
  #registry: Registry;
  #owned: Ownership;
  #options: PersistOptions;
  #open = new Set<string>();
  #isFetching = false;
  #isWaiting = false;

  constructor(registry: Registry, owned: Ownership, options: PersistOptions) {
    this.#registry = registry;
    this.#owned = owned;
    this.#options = options;
  }

  async ask(questionId: string): Promise<void> {
    this.#open.add(questionId);
    await this.#updateWaiting();
  }

  /** Closes a question whose answer the source has used. */
  async settle(questionId: string): Promise<void> {
    this.#open.delete(questionId);
    await this.#updateWaiting();
  }

  /** Reads new answers from the store and queues them for the source. */
  async fetch(): Promise<void> {
    if (this.#isFetching || this.#open.size === 0) return;
    this.#isFetching = true;
    const { run } = this.#owned;
    try {
      const decisions = await this.#registry.listDecisions(run.scope, { run: run.key });
      for (const { id: questionId, state, answer, answeredBy } of decisions) {
        if (state === 'open' || !this.#open.delete(questionId)) continue;
        const given: Answer =
          answer && 'questionId' in answer ? answer : { questionId, cancelled: true, reason: `It was ${state}.` };
        this.answers.push(answeredBy === undefined ? given : { by: answeredBy, ...given });
      }
      await this.#updateWaiting();
    } catch (error) {
      this.#options.onError(error);
    }
    this.#isFetching = false;
  }

  /** Writes to the registry whether the run waits for an answer. */
  async #updateWaiting(): Promise<void> {
    const isWaiting = this.#open.size > 0;
    if (isWaiting === this.#isWaiting) return;
    this.#isWaiting = isWaiting;
    const { run, epoch } = this.#owned;
    await persist(() => this.#registry.setWaiting(run.key, epoch, isWaiting), this.#options);
  }
}
