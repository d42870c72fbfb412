import type { AgentEvent, AgentSource, Answer, RunInput } from '@intertie/core';
import { OpenQuestions } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';

/** A run in this process that can be stopped, and answered while it waits. */
export class LiveRun {
  readonly runId: string;
  readonly events: ReadableStreamDefaultReader<AgentEvent>;
  #stop = new AbortController();
  #questions = new OpenQuestions();
  #answers: Answer[] = [];
  #wake: (() => void) | undefined;
  #isOver = false;
  #onEvent: (event: AgentEvent) => void;

  constructor(source: AgentSource, run: RunInput, onEvent: (event: AgentEvent) => void) {
    this.runId = run.runId;
    this.#onEvent = onEvent;
    const { signal } = this.#stop;
    const control = {
      signal,
      // Nothing is persisted, so there is nothing to wait for. After a stop, no tool may start.
      barrier: async () => signal.throwIfAborted(),
      liveAnswers: this.#readAnswers(),
    };
    this.events = source.run(run, control).getReader();
  }

  /** Tracks the open questions. Must be called with every event. */
  observe(event: AgentEvent): void {
    this.#onEvent(event);
    this.#questions.observe(event);
  }

  /** Questions that the run waits for. Empty while a part is still being streamed. */
  get waitingFor(): Waiting[] {
    return this.#questions.waitingFor;
  }

  answer(answer: Answer): void {
    this.#questions.answer(answer.questionId);
    this.#answers.push(answer);
    this.#wake?.();
  }

  /** Aborts the run. Its remaining events can still be read. */
  stop(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** Aborts the run and stops reading its events. */
  abandon(reason: unknown): void {
    this.#stop.abort(reason);
    this.end(reason);
  }

  /** Stops reading the events and ends the stream of answers. */
  end(reason?: unknown): void {
    this.#isOver = true;
    this.#wake?.();
    this.events.cancel(reason).catch(() => undefined);
  }

  async *#readAnswers(): AsyncGenerator<Answer> {
    for (;;) {
      const answer = this.#answers.shift();
      if (answer) yield answer;
      else if (this.#isOver) return;
      else await new Promise<void>((wake) => (this.#wake = wake));
    }
  }
}

/** Maximum number of waiting runs. The oldest is aborted. */
const maxWaiting = 100;

/** Runs that wait for an answer inside this process between two requests, at most one per thread. */
export class LiveRuns {
  #runs = new Map<string, LiveRun>();

  add(threadId: string, live: LiveRun): void {
    this.#runs.set(threadId, live);
    for (const [oldest, waiting] of this.#runs) {
      if (this.#runs.size <= maxWaiting) return;
      this.#runs.delete(oldest);
      waiting.abandon({ by: 'system', message: 'Too many runs are waiting for an answer.' });
    }
  }

  /** Removes and returns the waiting run that the input resumes. Any other request of the thread aborts it. */
  claim({ threadId, resumes }: RunInput): LiveRun | undefined {
    const live = this.#runs.get(threadId);
    this.#runs.delete(threadId);
    if (live === undefined || live.runId === resumes) return live;
    live.abandon({ by: 'user', message: 'Another message was sent instead of an answer.' });
    return undefined;
  }
}
