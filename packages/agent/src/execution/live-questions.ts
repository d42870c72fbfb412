import type { Answer } from '@intertie/core';
import type { Ownership, Registry } from '@intertie/core/store';
import { AnswerQueue } from './answer-queue.ts';
import { persist, type PersistOptions } from './persist.ts';

/** What a run asks that waits inside its process, and the way of the answers to it: through the store, from anywhere. */
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
    await this.#tell();
  }

  /** The source has taken the answer. */
  async settle(questionId: string): Promise<void> {
    this.#open.delete(questionId);
    await this.#tell();
  }

  /** Looks for answers, and hands them over. */
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
      await this.#tell();
    } catch (error) {
      this.#options.onError(error);
    }
    this.#isFetching = false;
  }

  async #tell(): Promise<void> {
    const isWaiting = this.#open.size > 0;
    if (isWaiting === this.#isWaiting) return;
    this.#isWaiting = isWaiting;
    const { run, epoch } = this.#owned;
    await persist(() => this.#registry.wait(run.key, epoch, isWaiting), this.#options);
  }
}
