import type { AgentEvent, AgentSource, Answer, RunInput } from '@intertie/core';
import type { Waiting } from '@intertie/core/store';
import { OpenQuestions } from './open-questions.ts';

/** A run under way: its events, the way to stop it, and the way to answer it while it waits. */
export class LiveRun {
  readonly runId: string;
  readonly events: ReadableStreamDefaultReader<AgentEvent>;
  #stop = new AbortController();
  #questions = new OpenQuestions();
  #answers: Answer[] = [];
  #wake: (() => void) | undefined;
  #isOver = false;
  #remember: (event: AgentEvent) => void;

  /** `remember` sees every event. */
  constructor(source: AgentSource, run: RunInput, remember: (event: AgentEvent) => void) {
    this.runId = run.runId;
    this.#remember = remember;
    const { signal } = this.#stop;
    const control = {
      signal,
      // Nothing is recorded here, so nothing is waited for; but after a stop no tool begins.
      barrier: async () => signal.throwIfAborted(),
      liveAnswers: this.#given(),
    };
    this.events = source.run(run, control).getReader();
  }

  /** Notes what the run waits for. */
  see(event: AgentEvent): void {
    this.#remember(event);
    this.#questions.see(event);
  }

  /** What it waits for, if that is all that can be shown for now: nobody is in the middle of a word. */
  get waitingFor(): Waiting[] {
    return this.#questions.waitingFor;
  }

  answer(answer: Answer): void {
    this.#questions.answer(answer.questionId);
    this.#answers.push(answer);
    this.#wake?.();
  }

  /** It is told to stop, and still has its last words. */
  stop(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** It is told to stop, and nobody listens any more. */
  drop(reason: unknown): void {
    this.#stop.abort(reason);
    this.end(reason);
  }

  /** It has said all that it had to say. */
  end(reason?: unknown): void {
    this.#isOver = true;
    this.#wake?.();
    this.events.cancel(reason).catch(() => undefined);
  }

  async *#given(): AsyncGenerator<Answer> {
    for (;;) {
      const answer = this.#answers.shift();
      if (answer) yield answer;
      else if (this.#isOver) return;
      else await new Promise<void>((wake) => (this.#wake = wake));
    }
  }
}

/** How many runs may wait at a time. The one that has waited longest gives way. */
const maxWaiting = 100;

/** The runs that wait for a person inside this process, between two requests of their chats: one for each thread. */
export class LiveRuns {
  #runs = new Map<string, LiveRun>();

  keep(threadId: string, live: LiveRun): void {
    this.#runs.set(threadId, live);
    for (const [oldest, waiting] of this.#runs) {
      if (this.#runs.size <= maxWaiting) return;
      this.#runs.delete(oldest);
      waiting.drop({ by: 'system', message: 'Too many runs wait for an answer.' });
    }
  }

  /** The run that goes on. A thread that is asked for anything else has given up what it waited for. */
  take({ threadId, resumes }: RunInput): LiveRun | undefined {
    const live = this.#runs.get(threadId);
    this.#runs.delete(threadId);
    if (live === undefined || live.runId === resumes) return live;
    live.drop({ by: 'user', message: 'Another message was sent instead of an answer.' });
    return undefined;
  }
}
